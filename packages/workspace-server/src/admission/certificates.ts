import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import type { IsAllowed } from "../authz/access.ts";
import {
  CertificateSigningRequest,
  type CertificateSigningRequestContent,
} from "../kinds/certificate-signing-request.ts";
import { parseCertificateRequest } from "../kinds/pkcs10.ts";

type Spec = CertificateSigningRequestContent["spec"];

const { group, plural } = CertificateSigningRequest;
/** Signer of client certificates for the server itself. */
const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";

/**
 * Admits what users may do with a signer's requests (Kubernetes' CertificateApproval, CertificateSigning and
 * CertificateSubjectRestriction). Approving and denying needs the verb `approve` on `signers` with the signer's name, or that of
 * its domain (`example.com/*`); changing the status needs `sign`. Throws 403. Security: no request of the signer of client
 * certificates may name `system:masters`.
 */
export function signerRights(isAllowed: IsAllowed): Admit {
  return (request) => {
    const { subresource, oldObject, operation, validate } = request;
    if (!isRequest(request) || operation === "DELETE") return undefined;
    if (operation === "CREATE") validate((next) => checkSubject(next));
    else if (subresource === "approval") validate(() => mustMay("approve", request, isAllowed));
    else if (subresource === "status")
      validate((next) =>
        equalJson(next["status"] ?? {}, oldObject?.["status"] ?? {}) ? undefined : mustMay("sign", request, isAllowed),
      );
    return undefined;
  };
}

/** Sets the user of a new request, whatever the client or a webhook says: a signer trusts these fields. */
export const recordRequester: Admit = (request) => {
  const { operation, object, user } = request;
  if (!isRequest(request) || operation !== "CREATE" || object === undefined) return undefined;
  const { username: _, uid: _uid, groups: _groups, extra: _extra, ...spec } = specOf(object);
  const requester = {
    ...(user.name !== "" && { username: user.name }),
    ...(user.uid !== "" && { uid: user.uid }),
    ...(user.groups.length > 0 && { groups: [...user.groups] }),
    ...(Object.keys(user.extra).length > 0 && { extra: user.extra }),
  };
  return { ...object, spec: { ...spec, ...requester } as never };
};

function isRequest({ definition }: AdmitRequest): boolean {
  return definition.group === group && definition.plural === plural;
}

function specOf(request: KubeObject | undefined): Partial<Spec> {
  return (request as { spec?: Spec } | undefined)?.spec ?? {};
}

async function mustMay(verb: "approve" | "sign", request: AdmitRequest, isAllowed: IsAllowed): Promise<void> {
  // The stored signer, not one that the write names.
  const { signerName = "" } = specOf(request.oldObject);
  const [domain = ""] = signerName.split("/");
  const { cluster = "" } = request.params;
  for (const name of [signerName, `${domain}/*`]) {
    const access = { verb, group, version: "*", resource: "signers", name };
    if (await isAllowed(request.user, cluster, access)) return;
  }
  const message = `user not permitted to ${verb} requests with signerName ${JSON.stringify(signerName)}`;
  throw forbidden(request.oldObject, message);
}

function checkSubject(request: KubeObject): void {
  const { request: pem = "", signerName } = specOf(request);
  if (signerName !== CLIENT_SIGNER) return;
  const { organizations } = parseCertificateRequest(Buffer.from(pem, "base64"));
  if (organizations.includes(MASTERS_GROUP))
    throw forbidden(request, `use of ${CLIENT_SIGNER} signer with ${MASTERS_GROUP} group is not allowed`);
}

function forbidden(request: KubeObject | undefined, message: string): ApiError {
  const { name = "" } = request?.metadata ?? {};
  return ApiError.forbidden({ resource: { group, resource: plural }, name, message });
}
