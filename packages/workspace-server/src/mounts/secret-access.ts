import { isDeepStrictEqual } from "node:util";
import { ApiError, quote } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import { Mount } from "@virtual-workspaces/kcp";
import type { IsAllowed } from "../workspaces/access.ts";

/**
 * Whoever says in a Mount which Secret is used, and for what, must be able to read it: whoever may enter would have what
 * it opens otherwise. Asked of every write that changes the spec, since that may lend the Secret to others as well.
 */
export function admitMountSecrets(isAllowed: IsAllowed): Admit {
  return (request: AdmitRequest) => {
    const { definition, operation, subresource, validate } = request;
    if (definition.group !== Mount.group || definition.plural !== Mount.plural) return;
    if (operation === "DELETE" || subresource !== "") return;
    validate(async (object) => check(object as Mount, { request, isAllowed }));
  };
}

interface Checking {
  readonly request: AdmitRequest;
  readonly isAllowed: IsAllowed;
}

async function check(mount: Mount, { request, isAllowed }: Checking): Promise<void> {
  const { user, params, oldObject } = request;
  if (isDeepStrictEqual(mount.spec, (oldObject as Mount | undefined)?.spec)) return;
  const { ref, secretRef } = mount.spec;
  const secrets = [
    ["spec.ref", ref?.kind === "Secret" ? ref : undefined] as const,
    ["spec.secretRef", secretRef] as const,
  ];
  for (const [field, secret] of secrets) {
    if (secret === undefined) continue;
    const { namespace = "", name } = secret;
    const access = { verb: "get", group: "", version: "v1", resource: "secrets", namespace, name };
    if (await isAllowed(user, params["cluster"] ?? "", access)) continue;
    throw ApiError.forbidden({
      resource: { group: Mount.group, resource: Mount.plural },
      name: mount.metadata.name,
      message: `${field}: whoever writes a Mount must be able to get the Secret ${quote(`${namespace}/${name}`)} that it names`,
    });
  }
}
