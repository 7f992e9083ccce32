import { WILDCARD } from "@virtual-workspaces/apimachinery";
import { bearerToken, utf8 } from "../../authn/headers.ts";
import { statusOf } from "../../encode/respond.ts";
import { clientCertificate } from "../../listener/connections.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import type { User } from "../../request/user.ts";
import { microTime } from "../clock.ts";
import { codeOf } from "../observer.ts";
import { verbOf } from "./audit-rules.ts";
import type { AuditStage } from "./check-policy.ts";
import { sourceIps } from "./origin.ts";
import type { AuditedRequest, AuditRecord } from "./record.ts";

// Events are built as text rather than stringified objects: each request has two, and most of their text is the same as in
// the previous request.

/** A stage that a request has reached. */
export interface AuditMoment {
  readonly record: AuditRecord;
  readonly stage: AuditStage;
  /** Time of `performance.now()`. */
  readonly moment: number;
}

/** Encodes one `audit.k8s.io/v1` Event as a line of JSON. It may run later: it contains only what was known at its stage. */
export function eventLine(request: AuditedRequest, { record, stage, moment }: AuditMoment): string {
  record.head ??= headOf(request, record);
  const line = `${record.head},"stage":"${stage}","stageTimestamp":"${microTime(moment)}"`;
  const info = request.info;
  if (stage === "RequestReceived")
    return `${line}${info?.isResource === true ? objectRef(info, undefined) : ""}${annotations(request, record, "")}}`;
  const impersonated = impersonatedMembers(request);
  const about = info?.isResource === true ? objectRef(info, record.metadata) : "";
  const sent = record.requestObject === undefined ? "" : `,"requestObject":${record.requestObject}`;
  const answered = stage === "ResponseComplete" ? record.responseObject(request) : undefined;
  const answer = answered === undefined ? "" : `,"responseObject":${answered}`;
  const status = `,"responseStatus":${responseStatus(request, record, stage)}`;
  return `${line}${impersonated}${about}${status}${sent}${answer}${annotations(request, record, verdict(request, record))}}`;
}

function impersonatedMembers({ impersonator, user, impersonationConstraint: verb }: AuditedRequest): string {
  if (impersonator === undefined) return "";
  const constraint = verb === undefined ? "" : `,"authenticationMetadata":{"impersonationConstraint":"${verb}"}`;
  return `,"impersonatedUser":${userJson(user)}${constraint}`;
}

/** Does not read the request, which a handler may change. */
function headOf(request: AuditedRequest, { decision }: AuditRecord): string {
  const { path, search, requestId, startedAt, user, impersonator, origin } = request;
  const addresses = origin === undefined ? [] : sourceIps(origin);
  const agent = origin?.agent;
  return (
    `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${decision.level}","auditID":"${requestId}"` +
    `,"requestURI":${JSON.stringify(shownUri(path, search))},"verb":${JSON.stringify(verbOf(request))}` +
    `,"user":${userJson(impersonator ?? user)}` +
    `${addresses.length === 0 ? "" : `,"sourceIPs":${JSON.stringify(addresses)}`}` +
    `${agent === undefined ? "" : `,"userAgent":${agentJson(agent)}`}` +
    `,"requestReceivedTimestamp":"${microTime(startedAt)}"`
  );
}

/** Kubernetes' own limit. */
const LONGEST_AGENT = 1024;

/** Cache: most requests come from a few clients. */
const agents = new Map<string, string>();
const MOST_AGENTS = 100;

function agentJson(agent: string): string {
  let json = agents.get(agent);
  if (json === undefined) {
    const text = utf8(agent) ?? agent;
    json = JSON.stringify(text.length > LONGEST_AGENT ? `${text.slice(0, LONGEST_AGENT)}...TRUNCATED` : text);
    if (agents.size >= MOST_AGENTS) agents.clear();
    if (agent.length <= LONGEST_AGENT) agents.set(agent, json);
  }
  return json;
}

/** Users are shared by the requests of their tokens and connections. */
const users = new WeakMap<User, string>();

function userJson(user: User | undefined): string {
  if (user === undefined) return "{}";
  let json = users.get(user);
  if (json === undefined) {
    const { name, uid, groups, extra } = user;
    json = JSON.stringify({
      username: name,
      ...(uid === "" ? {} : { uid }),
      ...(groups.length === 0 ? {} : { groups }),
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
    });
    users.set(user, json);
  }
  return json;
}

function objectRef(info: RequestInfo, metadata: AuditRecord["metadata"]): string {
  const { resource, subresource, group, version } = info;
  const namespace = info.namespace === "" ? metadata?.namespace : info.namespace;
  const name = info.name === "" ? metadata?.name : info.name;
  return (
    `,"objectRef":{"resource":${JSON.stringify(resource)}${member("namespace", namespace)}${member("name", name)}` +
    `${member("uid", metadata?.uid)}${member("apiGroup", group)}${member("apiVersion", version)}` +
    `${member("resourceVersion", metadata?.resourceVersion)}${member("subresource", subresource)}}`
  );
}

/** Returns "" for a missing value. */
function member(name: string, value: string | undefined): string {
  return value === undefined || value === "" ? "" : `,"${name}":${JSON.stringify(value)}`;
}

function responseStatus(request: AuditedRequest, { complete }: AuditRecord, stage: AuditStage): string {
  const code = codeOf(request) || (complete ? request.res.statusCode : 0);
  if (stage === "Panic" && code < 500)
    return '{"metadata":{},"status":"Failure","message":"the response had begun, and was cut","reason":"InternalError","code":500}';
  if (code === 0) return '{"metadata":{},"status":"Failure","message":"Connection closed early","code":0}';
  const answered = statusOf(request.res);
  if (answered === undefined) return `{"metadata":{},"code":${code}}`;
  const { status, reason, details } = answered;
  const message = code === 401 && request.user === undefined ? attempted(request) : answered.message;
  return JSON.stringify({ metadata: {}, status, message, reason, details, code });
}

/** Returns the kinds of failed credentials, as Kubernetes does; never the credentials. */
function attempted({ req }: AuditedRequest): string {
  const scheme = /^\s*(\S+)\s/.exec(req.headers.authorization ?? "")?.[1]?.toLowerCase();
  const methods = [
    ...(scheme === "basic" ? ["basic"] : []),
    ...(scheme === "bearer" || bearerToken(req) !== undefined ? ["bearer"] : []),
    ...(clientCertificate(req) !== undefined ? ["x509"] : []),
  ];
  return methods.length > 0
    ? `Authentication failed, attempted: ${methods.join(", ")}`
    : "Authentication failed, no credentials provided";
}

const TRACE = "virtual-workspaces.dev/trace-id";
const OMITTED = "virtual-workspaces.dev/omitted";

function annotations(request: AuditedRequest, { place }: AuditRecord, known: string): string {
  const written = known + (place ?? "") + member(TRACE, request.traceId);
  return written === "" ? "" : `,"annotations":{${written.slice(1)}}`;
}

/** Kcp's annotations for the logical cluster of a request, on every stage. */
const PLACE = ["kcp.io/path", "tenancy.kcp.io/workspace", "kcp.io/cluster"] as const;

/** Encodes them. As in kcp a path that is not known is "", and requests over all logical clusters have none of them. */
export function placeOf(cluster: string, path: string): string {
  if (cluster === "" || cluster === WILDCARD) return "";
  const values = [path, cluster, cluster];
  return PLACE.map((key, at) => `,"${key}":${JSON.stringify(values[at])}`).join("");
}

/** Returns annotations that are known with the response. */
function verdict({ decision }: AuditedRequest, { omitted, annotations: added }: AuditRecord): string {
  const cut = omitted === undefined ? "" : `,"audit.k8s.io/truncated":"true"${member(OMITTED, omitted)}`;
  // Those of admission first: a webhook must not replace those of the decision.
  const own = decision?.annotations;
  const more = added === undefined && own === undefined ? "" : texts({ ...Object.fromEntries(added ?? []), ...own });
  if (decision === undefined) return more + cut;
  if (decision.allowed === true) return cut === "" && more === "" ? ALLOWED : ALLOWED + more + cut;
  const reason = JSON.stringify(String(decision.reason ?? ""));
  return `,"authorization.k8s.io/decision":"forbid","authorization.k8s.io/reason":${reason}${more}${cut}`;
}

/** Encodes annotations, without those that the server sets. */
function texts(annotations: Readonly<Record<string, unknown>>): string {
  const own = Object.entries(annotations).filter(([key]) => !PLACES.has(key) && !OF_SERVER.test(key));
  return own.map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(String(value))}`).join("");
}

const PLACES: ReadonlySet<string> = new Set(PLACE);
const OF_SERVER = /^(?:authorization\.k8s\.io|audit\.k8s\.io|virtual-workspaces\.dev)\//;

const ALLOWED = ',"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":""';

/** Longest URL, characters: more than most servers and proxies accept, and less than a head may have. */
const LONGEST = 8192;

/**
 * Returns a URL as recorded. Security: tokens in the query are masked; the server accepts none there, but a client may send
 * one.
 */
function shownUri(path: string, search: string): string {
  const uri = path.length + search.length > LONGEST ? (path + search).slice(0, LONGEST) : path + search;
  const shown = search !== "" && /token|%/i.test(search) ? withoutTokens(uri) : uri;
  return uri.length < path.length + search.length ? `${shown}...TRUNCATED` : shown;
}

function withoutTokens(uri: string): string {
  const at = uri.indexOf("?");
  return at === -1 ? uri : uri.slice(0, at) + uri.slice(at).split("&").map(withoutToken).join("&");
}

/** Some readers accept `;` between parameters, and some a second `?`. */
const NAMES = /(?:^|[?;])([^?;=]*)=/g;

function withoutToken(parameter: string): string {
  for (const { 0: found, 1: name = "", index } of parameter.matchAll(NAMES))
    if (/token$/i.test(decoded(name))) return `${parameter.slice(0, index + found.length)}REDACTED`;
  return parameter;
}

/** Not `decodeURIComponent`, which throws on malformed text elsewhere. */
function decoded(name: string): string {
  return name.replace(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
