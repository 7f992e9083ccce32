import { ancestorsOf, childWorkspaces, nameOf, parentOf } from "./workspace.ts";

/**
 * Whether a workspace is mounted, or in a mounted one: its objects are then of another server, so that names of logical clusters and
 * paths in them mean nothing here. Undefined until that is known, and false where the user may not list the workspaces above. To be read
 * while a component is rendered.
 */
export function isMounted(path: string): boolean | undefined {
  let isKnown = true;
  for (const one of ancestorsOf(path)) {
    const parent = parentOf(one);
    if (parent === undefined) continue;
    const { items, state } = childWorkspaces(parent).value;
    const found = items.find(({ metadata }) => metadata.name === nameOf(one));
    if (found?.spec?.mount !== undefined) return true;
    if (state === "loading" && found === undefined) isKnown = false;
  }
  return isKnown ? false : undefined;
}
