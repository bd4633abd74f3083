"""How a conversation grows: LatticeFlow's ``multi_turn_solver``, read, checked and played."""
