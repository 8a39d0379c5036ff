"""What sticks, slides, touches and parts, decided by complementarity: no mechanics, only forces, slips and limits."""
