/** What a provider without a hierarchy says to somebody who wants a space in one: else a space would have two names. @throws Error */
export function refuseParent(parent: string | undefined): void {
  if (parent !== undefined)
    throw new Error(
      "its provider has no hierarchy: take the annotation kubestellar.io/space-path off, which says where in it the space is to be",
    );
}
