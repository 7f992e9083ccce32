import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { RawRequest } from "@virtual-workspaces/framework";
import type { AgentCredential } from "../enrolment/agent-users.ts";
import type { Hub } from "../hub/hub.ts";
import type { Tunnel, Tunnels } from "../hub/tunnels.ts";
import { API_STATES, type ApiState } from "../protocol/api-states.ts";
import type { ProxyKey } from "../protocol/proxy-key.ts";
import { RETRY_AFTER } from "../protocol/retry-after.ts";
import {
  API_STATE_HEADER,
  EPOCH_HEADER,
  HUB_HEADER,
  OTHERS_HEADER,
  STREAM_PROTOCOL,
  TARGET_HEADER,
  TLS_HEADER,
  TUNNEL_PROTOCOL,
  VERSION_HEADER,
} from "../protocol/wire.ts";
import { splice, switchProtocols } from "../tunnel/connection.ts";
import { HubEnd } from "../tunnel/hub-end.ts";
import { isTunnelError } from "../tunnel/tunnel-error.ts";
import { WebSockets, type WebSocketUpgrade } from "../tunnel/websocket.ts";

interface StreamRequest {
  readonly req: IncomingMessage;
  readonly socket: Duplex;
  readonly request: RawRequest<ProxyKey> & { readonly head: Buffer };
}

interface TunnelRequest extends StreamRequest {
  readonly credential: AgentCredential & { readonly kind: "agent" };
}

/** Accepts an agent's connection as a tunnel. @throws ApiError 400 on an invalid request; as {@link AgentRecords.admitted} */
export async function acceptTunnel({ req, socket, request, credential }: TunnelRequest, hub: Hub): Promise<void> {
  const { params, head, ending } = request;
  const how = framingOf(req);
  const said = epochOf(req);
  const [version, tls, api] = [versionOf(req), tlsOf(req), apiStateOf(req)];
  const key = { cluster: params.cluster, name: params.name };
  const { epoch, tokenIssued } = await hub.records.admitted(credential, said);
  // The client has left meanwhile.
  if (socket.destroyed) return;
  hub.tunnels.end(key, (tunnel) => tunnel.epoch < epoch);
  const bytes = await ACCEPT[how]({ req, socket, head }, [
    `${EPOCH_HEADER}: ${epoch}`,
    `${HUB_HEADER}: ${hub.hubs.id}`,
    `${OTHERS_HEADER}: ${hub.hubs.reachable.filter(({ id }) => id !== hub.hubs.id).length}`,
  ]);
  if (bytes === undefined || bytes.destroyed) return;
  const onReport = (report: number): void => hub.tunnels.reported(key, tunnel, API_STATES[report]);
  const end = new HubEnd(bytes, { ...hub.options.tunnel, onReport });
  const { enrolment } = credential.proven.identity;
  const tunnel: Tunnel = { end, epoch, opened: hub.now(), version, tls, api, enrolment, tokenIssued };
  hub.tunnels.add(key, tunnel);
  const drain = (): void => {
    void end.drain();
    void hub.hubs.leave();
  };
  ending.addEventListener("abort", drain, { once: true });
  if (ending.aborted) drain();
  await end.closed;
  ending.removeEventListener("abort", drain);
}

/** @throws ApiError 400 */
function epochOf({ headers }: IncomingMessage): number | undefined {
  const said = headers[EPOCH_HEADER];
  if (said === undefined) return undefined;
  if (typeof said === "string" && /^[1-9]\d{0,14}$/.test(said)) return Number(said);
  throw ApiError.badRequest(`invalid ${EPOCH_HEADER}: use the value from the hub, or omit the header`);
}

/** Returns the agent's version. Security: it is written to objects, so its characters and length are limited. */
function versionOf({ headers }: IncomingMessage): string {
  const said = headers[VERSION_HEADER];
  return typeof said === "string" && /^[\w.+-]{1,64}$/.test(said) ? said : "unknown";
}

/** @throws ApiError 400 */
function tlsOf({ headers }: IncomingMessage): "Agent" | "EndToEnd" {
  const said = headers[TLS_HEADER] ?? "Agent";
  if (said === "Agent" || said === "EndToEnd") return said;
  throw ApiError.badRequest(`invalid ${TLS_HEADER}: use Agent or EndToEnd`);
}

/** Returns the state of the remote API server; `undefined` if the agent reports none that this hub knows. */
function apiStateOf({ headers }: IncomingMessage): ApiState | undefined {
  return API_STATES.find((state) => state === headers[API_STATE_HEADER]);
}

/** Returns the framing of the request. @throws ApiError 400 */
function framingOf({ headers }: IncomingMessage): "plain" | "framed" {
  const { upgrade = "" } = headers;
  if (upgrade === TUNNEL_PROTOCOL) return "plain";
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((one) => one.trim());
  if (upgrade.toLowerCase() === "websocket" && offered.includes(TUNNEL_PROTOCOL)) return "framed";
  throw ApiError.badRequest(`invalid Upgrade: use ${TUNNEL_PROTOCOL}, or a WebSocket with that subprotocol`);
}

const webSockets = new WebSockets(TUNNEL_PROTOCOL);

/** Writes the upgrade response with further headers. `undefined` if the agent has left. */
const ACCEPT: Readonly<
  Record<"plain" | "framed", (asked: WebSocketUpgrade, lines: readonly string[]) => Promise<Duplex | undefined>>
> = {
  plain: (asked, lines) => switchProtocols(asked, { protocol: TUNNEL_PROTOCOL, lines }),
  framed: (asked, lines) => webSockets.accept(asked, [...lines]),
};

/**
 * Opens a stream in a tunnel of this hub for another hub, and never over a third one. The other hub has already authorized the caller.
 *
 * @throws ApiError 503 without a tunnel, 404 on a target that the agent does not allow, 502 on one that it cannot connect to, 400 on an
 * invalid request
 */
export async function giveStream({ req, socket, request }: StreamRequest, tunnels: Tunnels): Promise<void> {
  const { params, head, signal } = request;
  const target = req.headers[TARGET_HEADER];
  if (req.headers.upgrade !== STREAM_PROTOCOL || typeof target !== "string")
    throw ApiError.badRequest(`invalid Upgrade: use ${STREAM_PROTOCOL} with the header ${TARGET_HEADER}`);
  const stream = await openStream(tunnels, params, { target, signal });
  // The hub has left meanwhile.
  if (socket.destroyed) {
    stream.destroy();
    return;
  }
  await switchProtocols({ socket, head }, { protocol: STREAM_PROTOCOL });
  splice(stream, socket);
}

async function openStream(
  tunnels: Tunnels,
  key: ProxyKey,
  { target, signal }: { readonly target: string; readonly signal: AbortSignal },
): Promise<Duplex> {
  for (const { end } of tunnels.of(key))
    try {
      return await end.open(target, { signal });
    } catch (error) {
      if (!isTunnelError(error)) throw error;
      if (error.code === "refused") throw ApiError.notFoundPath();
      if (error.code === "unreachable")
        throw ApiError.badGateway("the agent of this ClusterProxy cannot connect to its cluster");
    }
  throw ApiError.serviceUnavailable("this hub has no tunnel to the agent of this ClusterProxy", RETRY_AFTER);
}
