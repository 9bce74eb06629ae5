"""The pace: as fast as the provider allows, and no faster. Pools, controllers, and the doors to them."""
