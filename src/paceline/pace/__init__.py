"""The pace: as fast as the provider allows, and no faster. Pools, their controllers, and the doors to them."""
