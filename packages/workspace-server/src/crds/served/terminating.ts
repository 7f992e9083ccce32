import type { ServedResource } from "@virtual-workspaces/framework";

/** Verbs that discovery leaves out while the definition is deleted (apiextensions-apiserver). Updates are still answered. */
const UNLISTED: ReadonlySet<string> = new Set(["create", "patch", "update"]);
const forms = new WeakMap<ServedResource, ServedResource>();

/** Returns a resource as discovery lists it while its definition or binding is deleted; always the same for a resource. */
export function whileTerminating(resource: ServedResource): ServedResource {
  let form = forms.get(resource);
  if (form === undefined) {
    form = { ...resource, listedVerbs: resource.verbs.filter((verb) => !UNLISTED.has(verb)) };
    forms.set(resource, form);
  }
  return form;
}
