import { isDeepStrictEqual } from "node:util";
import { quote } from "@virtual-workspaces/apimachinery";
import type { Mount } from "./mount.ts";

/** A Secret that whoever writes a Mount must be able to get. */
export interface NamedSecret {
  readonly access: {
    readonly verb: "get";
    readonly group: "";
    readonly version: "v1";
    readonly resource: "secrets";
    readonly namespace: string;
    readonly name: string;
  };
  /** What who may not is told. */
  readonly refusal: string;
}

/**
 * The Secrets that whoever writes a Mount must be able to get: those that it names, since whoever may enter its workspace has what they
 * open. Asked of every write that changes the spec, which may lend them to others as well.
 *
 * @param before the Mount as it was @default it is new
 */
export function namedSecrets({ spec }: Pick<Mount, "spec">, before?: Pick<Mount, "spec">): readonly NamedSecret[] {
  if (isDeepStrictEqual(spec, before?.spec)) return [];
  const { ref, secretRef } = spec;
  return [
    ...(ref?.kind === "Secret" ? [named("spec.ref", ref)] : []),
    ...(secretRef === undefined ? [] : [named("spec.secretRef", secretRef)]),
  ];
}

function named(
  field: string,
  { namespace = "", name }: { readonly namespace?: string | undefined; readonly name: string },
): NamedSecret {
  return {
    access: { verb: "get", group: "", version: "v1", resource: "secrets", namespace, name },
    refusal: `${field}: whoever writes a Mount must be able to get the Secret ${quote(`${namespace}/${name}`)} that it names`,
  };
}
