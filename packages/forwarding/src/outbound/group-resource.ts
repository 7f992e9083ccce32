import type { GroupResource } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "@virtual-workspaces/framework";

/** `quotes.example.dev`, as which messages name a kind. */
export function groupResourceOf({ group, plural }: ResourceDefinition): GroupResource {
  return { group, resource: plural };
}
