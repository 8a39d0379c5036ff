"""What later processes find again: entries on disk (`store`), values as plain data (`plain`), answers about files
(`files`) and models (`content`), and the last answers of this process (`recent`)."""
