import { X509Certificate } from "node:crypto";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { signRequest } from "@virtual-workspaces/framework";
import type { ProxyKey } from "../hub/proxy-key.ts";
import type { HubAuthority } from "./hub-keys.ts";

/** Whom the certificate of an agent names. */
export interface AgentIdentity extends ProxyKey {
  /** Of the ClusterProxy. */
  readonly uid: string;
  /** By which enrolment the agent has got it. */
  readonly enrolment: string;
}

const PREFIX = "urn:virtual-workspaces:clusterproxy:";
const WORD = "[A-Za-z0-9.-]+";
const URI = new RegExp(`^URI:${PREFIX}(${WORD}):(${WORD}):(${WORD}):(${WORD})$`);

/** Certifies an agent's key. @returns PEM @throws ApiError 400 on what is no request for it */
export async function certifyAgent(
  request: string,
  { cluster, name, uid, enrolment }: AgentIdentity,
  { pair, now, lifetime }: Pick<HubAuthority, "pair"> & { readonly now: Date; readonly lifetime: number },
): Promise<string> {
  const uris = [`${PREFIX}${cluster}:${name}:${uid}:${enrolment}`];
  const subject = { name: "clusterproxy-agent", groups: [] };
  const certificate = await signRequest(request, { subject, purpose: { kind: "client", uris }, now, lifetime }, pair);
  if (certificate !== undefined) return certificate;
  throw ApiError.badRequest(
    "spec.request: it is no PKCS #10 request in PEM that is signed by its own key, on the curve P-256",
  );
}

/** Whom a certificate names that a hub has given out, whenever that was. `undefined`: no hub has. */
export function agentIdentityOf(
  certificate: X509Certificate,
  { certificate: authority }: HubAuthority,
): AgentIdentity | undefined {
  if (!certificate.checkIssued(authority) || !certificate.verify(authority.publicKey)) return undefined;
  const [, cluster, name, uid, enrolment] = URI.exec(certificate.subjectAltName ?? "") ?? [];
  return cluster && name && uid && enrolment ? { cluster, name, uid, enrolment } : undefined;
}

/** PEM, or DER. `undefined`: it is none. */
export function certificateOf(text: string | Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(text);
  } catch {
    return undefined;
  }
}
