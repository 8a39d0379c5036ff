"""Models of corners and axles from hard points: members, springs, uprights, racks, anti-roll bars."""
