import { CLUSTER_ANNOTATION } from "@virtual-workspaces/apimachinery";
import { SOURCE_VERSION_ANNOTATION } from "@virtual-workspaces/framework";

/** On objects of several Spaces: in which one each is, `<namespace>/<name>`. The view's own: what clients say there is dropped. */
export const SPACE_ANNOTATION = "space.kubestellar.io/space";

/** The annotations that objects have where several Spaces are shown, and not in their Spaces. */
export const OWN_ANNOTATIONS: readonly string[] = [SPACE_ANNOTATION, SOURCE_VERSION_ANNOTATION, CLUSTER_ANNOTATION];
