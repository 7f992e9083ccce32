import { isDeepStrictEqual } from "node:util";
import { type KindReference, quote } from "@virtual-workspaces/apimachinery";
import { ClusterProxy } from "../kinds/cluster-proxy.ts";
import { Mount } from "../kinds/mount.ts";

/** Object that may name Secrets. */
export interface NamesSecrets {
  readonly spec?: {
    readonly ref?: { readonly kind: string; readonly namespace?: string; readonly name: string };
    readonly secretRef?: { readonly namespace: string; readonly name: string };
  };
}

/** Kinds whose objects name Secrets of their workspace. The server uses their content for requests of every user with access to it. */
export const KINDS_THAT_NAME_SECRETS: readonly KindReference[] = [Mount, ClusterProxy] as readonly KindReference[];

/** Secret that the author of the reference must be allowed to get. */
export interface NamedSecret {
  readonly access: {
    readonly verb: "get";
    readonly group: "";
    readonly version: "v1";
    readonly resource: "secrets";
    readonly namespace: string;
    readonly name: string;
  };
  /** Error message for an author who may not get the Secret. */
  readonly refusal: string;
}

/**
 * Returns the Secrets that the author of a Mount or ClusterProxy must be allowed to get. Security: users with access to its
 * workspace get the access that its Secrets give. The check covers every change of the spec, which may share them with others.
 *
 * @param before the previous object
 * @default it is new
 */
export function namedSecrets(kind: string, { spec }: NamesSecrets, before?: NamesSecrets): readonly NamedSecret[] {
  if (isDeepStrictEqual(spec, before?.spec)) return [];
  const { ref, secretRef } = spec ?? {};
  const named = (field: string, at: { readonly namespace?: string | undefined; readonly name: string }): NamedSecret =>
    namedBy(kind, field, at);
  return [
    ...(ref?.kind === "Secret" ? [named("spec.ref", ref)] : []),
    ...(secretRef === undefined ? [] : [named("spec.secretRef", secretRef)]),
  ];
}

function namedBy(
  kind: string,
  field: string,
  { namespace = "", name }: { readonly namespace?: string | undefined; readonly name: string },
): NamedSecret {
  return {
    access: { verb: "get", group: "", version: "v1", resource: "secrets", namespace, name },
    refusal: `${field}: the author of a ${kind} must be allowed to get the Secret ${quote(`${namespace}/${name}`)} that it names`,
  };
}
