import { crdManifest, type Manifests, PathMapping } from "@virtual-workspaces/kcp";

/** What must be there in `root` for a front proxy to follow PathMappings: their kind. */
export const manifests: Manifests = [crdManifest(PathMapping)];
