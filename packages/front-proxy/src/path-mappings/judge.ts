import { createSecureContext } from "node:tls";
import { isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import type { PathMapping } from "@virtual-workspaces/kcp";
import { checkBackend } from "../mapping/mapping.ts";
import { overlaps, parseRoutePath, type RoutePath } from "../mapping/route-path.ts";

/** A client certificate and its key, PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Why requests do not go where an object says. */
export interface Rejection {
  readonly kind: "refused";
  readonly reason: "InvalidPath" | "PathTaken" | "InvalidBackend" | "SecretNotFound" | "InvalidSecret";
  readonly message: string;
}

/** What objects are judged by. */
export interface Surroundings {
  /** What is mapped otherwise: it is there first, and keeps all that is below it. */
  readonly fixed: readonly { readonly path: string; readonly segments: RoutePath }[];
  /** A Secret, if it is there, and of the right type. */
  readonly secret: (at: NonNullable<PathMapping["spec"]["secretRef"]>) => KubeObject | "none" | "unknown";
}

/** Where requests go that are below the path of an object. */
export interface Accepted {
  readonly kind: "accepted";
  readonly spec: PathMapping["spec"];
  readonly certificate: Certificate | undefined;
}

/** What became of an object; `unknown` while its Secret is. */
export type Verdict = Accepted | Rejection | { readonly kind: "unknown" };

/**
 * Which objects count, by name: the older of two that both have some path, and none that has a path of another mapping. `/`, which has what
 * no other path has, is in nobody's way. The same objects are judged the same everywhere.
 */
export function judged(objects: readonly PathMapping[], surroundings: Surroundings): ReadonlyMap<string, Verdict> {
  const taken = surroundings.fixed
    .filter(({ segments }) => segments.length > 0)
    .map(({ path, segments }) => ({ segments, by: `${path}, which is mapped without an object` }));
  const verdicts = new Map<string, Verdict>();
  for (const { metadata, spec } of [...objects].sort(byAge)) {
    const { name = "" } = metadata;
    const segments = pathOf(spec);
    if (typeof segments === "string") {
      verdicts.set(name, rejected("InvalidPath", `spec.path: ${segments}`));
      continue;
    }
    const first = taken.find((other) => overlaps(other.segments, segments));
    verdicts.set(
      name,
      first === undefined
        ? judgedAlone(spec, surroundings)
        : rejected("PathTaken", `spec.path: ${spec.path} is a part of ${first.by}: take another one`),
    );
    // What is in the way of others does not depend on what else is wrong with it: its path is nobody's for a moment.
    if (first === undefined) taken.push({ segments, by: `${spec.path} of the PathMapping ${name}, which is older` });
  }
  return verdicts;
}

function rejected(reason: Rejection["reason"], message: string): Rejection {
  return { kind: "refused", reason, message };
}

/** The schema says the same: that of whoever applied another one may not. */
function pathOf({ path, backends }: Partial<PathMapping["spec"]> = {}): RoutePath | string {
  if (typeof path !== "string" || !Array.isArray(backends)) return "give path and backends";
  const segments = parseRoutePath(path);
  if (typeof segments === "string") return segments;
  const [first, view] = segments;
  return first === "services" && view !== undefined
    ? segments
    : "give a path below /services/, whose first segment there is a word";
}

function judgedAlone(spec: PathMapping["spec"], { secret }: Surroundings): Verdict {
  const { backends, caBundle, secretRef } = spec;
  const problem = backends.map(checkBackend).find((one) => one !== undefined) ?? caProblem(caBundle);
  if (problem !== undefined) return rejected("InvalidBackend", `spec: ${problem}`);
  if (secretRef === undefined) return { kind: "accepted", spec, certificate: undefined };
  const what = `spec.secretRef: the Secret ${secretRef.namespace}/${secretRef.name}`;
  const found = secret(secretRef);
  if (found === "unknown") return { kind: "unknown" };
  if (found === "none")
    return rejected("SecretNotFound", `${what} is not there, or not of the type kubernetes.io/tls: make it`);
  const certificate = certificateOf(found);
  if (certificate === undefined)
    return rejected("InvalidSecret", `${what}: give tls.crt, and in tls.key the key that belongs to it, as PEM`);
  return { kind: "accepted", spec, certificate };
}

/** PEM of the authorities that an object names. */
export function caOf({ caBundle = "" }: Pick<PathMapping["spec"], "caBundle">): string {
  return Buffer.from(caBundle, "base64").toString("utf8");
}

function caProblem(caBundle: string | undefined): string | undefined {
  if (caBundle === undefined) return undefined;
  const ca = caOf({ caBundle });
  return ca.includes("-----BEGIN CERTIFICATE-----") && isUsable({ ca })
    ? undefined
    : "caBundle: give certificates as PEM, in base64";
}

/** By the Secret as it was read: it never changes, and handshakes are costly to prepare. */
const CERTIFICATES = new WeakMap<KubeObject, Certificate | "none">();

function certificateOf(secret: KubeObject): Certificate | undefined {
  const known = CERTIFICATES.get(secret) ?? readCertificate(secret);
  CERTIFICATES.set(secret, known);
  return known === "none" ? undefined : known;
}

function readCertificate(secret: KubeObject): Certificate | "none" {
  const [cert, key] = [dataOf(secret, "tls.crt"), dataOf(secret, "tls.key")];
  return cert !== "" && key !== "" && isUsable({ cert, key }) ? { cert, key } : "none";
}

function isUsable(context: { readonly ca?: string; readonly cert?: string; readonly key?: string }): boolean {
  try {
    createSecureContext(context);
    return true;
  } catch {
    return false;
  }
}

function dataOf(secret: KubeObject, key: string): string {
  const data = memberOf(secret, "data");
  const value = isJsonObject(data) ? memberOf(data, key) : undefined;
  return typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : "";
}

/** The older first. Of two of one second that of the lesser name, so that all agree. */
function byAge({ metadata: one }: PathMapping, { metadata: other }: PathMapping): number {
  const [a, b] = [ageKey(one), ageKey(other)];
  return a === b ? 0 : a < b ? -1 : 1;
}

function ageKey({ creationTimestamp = "", name = "" }: PathMapping["metadata"]): string {
  return `${creationTimestamp} ${name}`;
}
