// Quotes, which the Go clients read with their own typed client.
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import {
  authenticated,
  type Collection,
  defineResource,
  defineVirtualWorkspace,
  type ServedResource,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import type { CollectionPart } from "@virtual-workspaces/framework/storage";

/** The same as `Quote` in test/go/clients/quote.go. */
export const Quote = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Quote",
  scope: "Cluster",
  shortNames: ["qt"],
  categories: ["sayings"],
  description: "What somebody said.",
  spec: {
    type: "object",
    required: ["text"],
    properties: {
      text: { type: "string", description: "What was said.", maxLength: 10_000 },
      author: { type: "string", description: "Who said it." },
    },
  },
  columns: { Text: ".spec.text", Author: { jsonPath: ".spec.author", priority: 1 } },
  selectableFields: [".spec.author"],
});

export type QuoteContent = { spec: { text: string; author?: string } };
export type Quotes = Collection<QuoteContent>;

/** Path of {@link quotesView} for the logical cluster `root`. */
export const QUOTES = { quotes: "/services/quotes/clusters/root" } as const;

/** Returns a virtual workspace for all authenticated users. */
export function quotesView(resources: readonly ServedResource[] | (() => readonly ServedResource[])): VirtualWorkspace {
  return defineVirtualWorkspace({ name: "quotes", path: "/clusters/:cluster", authorize: authenticated(), resources });
}

/** Returns resource versions by key of all objects, which a client must hold. */
export function versions(part: CollectionPart<QuoteContent>): Map<string, string> {
  return versionsOf(part.list());
}

export function versionsOf(objects: readonly Pick<KubeObject, "metadata">[]): Map<string, string> {
  return new Map(objects.map(({ metadata }) => [metadata.name ?? "", metadata.resourceVersion ?? ""]));
}
