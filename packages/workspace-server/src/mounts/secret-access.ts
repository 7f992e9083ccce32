import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import { Mount, namedSecrets } from "@virtual-workspaces/kcp";
import type { IsAllowed } from "../workspaces/access.ts";

/**
 * Whoever says in a Mount which Secret is used, and for what, must be able to read it: whoever may enter would have what
 * it opens otherwise.
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
  for (const { access, refusal } of namedSecrets(mount, oldObject as Mount | undefined)) {
    if (await isAllowed(user, params["cluster"] ?? "", access)) continue;
    throw ApiError.forbidden({
      resource: { group: Mount.group, resource: Mount.plural },
      name: mount.metadata.name,
      message: refusal,
    });
  }
}
