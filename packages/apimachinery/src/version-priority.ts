const KUBE_VERSION = /^v([0-9]{1,15})(?:(alpha|beta)([0-9]{1,15}))?$/;
const STABILITY = ["alpha", "beta", undefined];

/**
 * The order of API versions, preferred first: `v2`, `v1`, `v2beta1`, `v1beta2`, `v1alpha1`, and then, by the alphabet,
 * whatever is not of that form (apimachinery's version.CompareKubeAwareVersionStrings, reversed).
 */
export function compareVersionPriority(a: string, b: string): number {
  if (a === b) return 0;
  const left = KUBE_VERSION.exec(a);
  const right = KUBE_VERSION.exec(b);
  if (left === null || right === null) {
    if (left !== null) return -1;
    if (right !== null) return 1;
    return a < b ? -1 : 1;
  }
  return (
    STABILITY.indexOf(right[2]) - STABILITY.indexOf(left[2]) ||
    Number(right[1]) - Number(left[1]) ||
    Number(right[3] ?? 0) - Number(left[3] ?? 0)
  );
}
