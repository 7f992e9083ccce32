import type { Draft } from "./modify.ts";

interface NewNamespace extends Draft<object> {
  readonly spec: { readonly finalizers: string[] };
  readonly status: { readonly phase: "Active" };
}

/**
 * A namespace that the server makes, as its API would have it: held, so that when it is deleted what is in it goes first.
 */
export function newNamespace(name: string, annotations?: Readonly<Record<string, string>>): NewNamespace {
  return {
    metadata: { labels: { "kubernetes.io/metadata.name": name }, ...(annotations && { annotations }) },
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  };
}
