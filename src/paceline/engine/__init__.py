"""Room of Paceline."""
