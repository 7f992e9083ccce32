import { ApiError, type KindReference } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import { KINDS_THAT_NAME_SECRETS, type NamesSecrets, namedSecrets } from "@virtual-workspaces/kcp/targets";
import type { IsAllowed } from "../authz/access.ts";

/**
 * Requires that a user who names a Secret in a Mount or a ClusterProxy may use that Secret. Security: otherwise users could
 * reach whatever the Secret opens without being able to read it.
 */
export function admitNamedSecrets(isAllowed: IsAllowed): Admit {
  return (request: AdmitRequest) => {
    const { definition, operation, subresource, validate } = request;
    const kind = KINDS_THAT_NAME_SECRETS.find(
      ({ group, plural }) => definition.group === group && definition.plural === plural,
    );
    if (kind === undefined || operation === "DELETE" || subresource !== "") return;
    validate(async (object) => check(object, { kind, request, isAllowed }));
  };
}

interface Checking {
  readonly kind: KindReference;
  readonly request: AdmitRequest;
  readonly isAllowed: IsAllowed;
}

async function check(object: AdmitRequest["object"], { kind, request, isAllowed }: Checking): Promise<void> {
  const { user, params, oldObject } = request;
  const named = namedSecrets(kind.kind, object as NamesSecrets, oldObject as NamesSecrets | undefined);
  for (const { access, refusal } of named) {
    if (await isAllowed(user, params["cluster"] ?? "", access)) continue;
    throw ApiError.forbidden({
      resource: { group: kind.group, resource: kind.plural },
      name: object?.metadata.name ?? "",
      message: refusal,
    });
  }
}
