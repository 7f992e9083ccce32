import { isDeepStrictEqual } from "node:util";
import { type KindReference, quote } from "@virtual-workspaces/apimachinery";
import { ClusterProxy } from "../kinds/cluster-proxy.ts";
import { Mount } from "../kinds/mount.ts";

/** An object that may name Secrets. */
export interface NamesSecrets {
  readonly spec?: {
    readonly ref?: { readonly kind: string; readonly namespace?: string; readonly name: string };
    readonly secretRef?: { readonly namespace: string; readonly name: string };
  };
}

/** The kinds whose objects name Secrets of their workspace, by whose content others are asked on behalf of whoever may enter. */
export const KINDS_THAT_NAME_SECRETS: readonly KindReference[] = [Mount, ClusterProxy] as readonly KindReference[];

/** A Secret that whoever names it must be able to get. */
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
 * The Secrets that whoever writes a Mount or a ClusterProxy must be able to get: those that it names, since whoever may enter its workspace has what they
 * open. Asked of every write that changes the spec, which may lend them to others as well.
 *
 * @param before the object as it was @default it is new
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
    refusal: `${field}: whoever writes a ${kind} must be able to get the Secret ${quote(`${namespace}/${name}`)} that it names`,
  };
}
