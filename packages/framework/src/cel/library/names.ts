/** Calls of these are ours, since the library's own cannot be replaced: they are registered under a name with this end. */
export const OWN = "_k8s";

/** What `has` is called before the library sees it: its own takes fewer expressions than Kubernetes'. As long as `has`. */
export const HAS = "hAs";

/** What operators become where the library would compare or join lists otherwise than Kubernetes. */
export const SAME: string = `same${OWN}`;
export const JOIN: string = `concat${OWN}`;

/** What map literals become: the library makes objects of them, whose keys are texts. */
export const MAP: string = `map${OWN}`;
