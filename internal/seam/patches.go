package seam

// patches returns the edits for a Go release ("1.26", "1.27") on linux/goarch.
func patches(release, goarch string) []Patch {
	var list []Patch
	list = append(list, schedulerPatches()...)
	list = append(list, clockPatches()...)
	list = append(list, randomPatches(release)...)
	list = append(list, kernelPatches(goarch)...)
	list = append(list, netPatches(release)...)
	list = append(list, processPatches()...)
	list = append(list, sharedPatches()...)
	list = append(list, ownPatches(release)...)
	list = append(list, orderPatches(release)...)
	return list
}
