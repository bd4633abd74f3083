"""The OpenReward protocol, served at the root of the host."""
