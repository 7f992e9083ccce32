import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { RawRequest } from "@virtual-workspaces/framework";
import type { AgentCredential } from "../enrolment/agent-users.ts";
import type { Hub } from "../hub/hub.ts";
import type { Tunnels } from "../hub/tunnels.ts";
import type { ProxyKey } from "../protocol/proxy-key.ts";
import {
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

/** Takes an agent's connection for a tunnel. @throws ApiError 400 on what is asked for otherwise; as {@link AgentRecords.admitted} */
export async function acceptTunnel({ req, socket, request, credential }: TunnelRequest, hub: Hub): Promise<void> {
  const { params, head, ending } = request;
  const how = framingOf(req);
  const said = epochOf(req);
  const [version, tls] = [versionOf(req), tlsOf(req)];
  const key = { cluster: params.cluster, name: params.name };
  const { epoch, tokenIssued } = await hub.records.admitted(credential, said);
  // A client that has left meanwhile.
  if (socket.destroyed) return;
  hub.tunnels.end(key, (tunnel) => tunnel.epoch < epoch);
  const bytes = await ACCEPT[how]({ req, socket, head }, [
    `${EPOCH_HEADER}: ${epoch}`,
    `${HUB_HEADER}: ${hub.hubs.id}`,
    `${OTHERS_HEADER}: ${hub.hubs.reachable.filter(({ id }) => id !== hub.hubs.id).length}`,
  ]);
  if (bytes === undefined || bytes.destroyed) return;
  const end = new HubEnd(bytes, hub.options.tunnel);
  const { enrolment } = credential.proven.identity;
  hub.tunnels.add(key, { end, epoch, version, tls, enrolment, tokenIssued });
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
  throw ApiError.badRequest(`${EPOCH_HEADER}: say what the hub has said, or leave it out`);
}

/** What it says goes into objects: as much of it as versions have. */
function versionOf({ headers }: IncomingMessage): string {
  const said = headers[VERSION_HEADER];
  return typeof said === "string" && /^[\w.+-]{1,64}$/.test(said) ? said : "unknown";
}

/** @throws ApiError 400 */
function tlsOf({ headers }: IncomingMessage): "Agent" | "EndToEnd" {
  const said = headers[TLS_HEADER] ?? "Agent";
  if (said === "Agent" || said === "EndToEnd") return said;
  throw ApiError.badRequest(`${TLS_HEADER}: say Agent or EndToEnd`);
}

/** How it is asked for. @throws ApiError 400 */
function framingOf({ headers }: IncomingMessage): "plain" | "framed" {
  const { upgrade = "" } = headers;
  if (upgrade === TUNNEL_PROTOCOL) return "plain";
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((one) => one.trim());
  if (upgrade.toLowerCase() === "websocket" && offered.includes(TUNNEL_PROTOCOL)) return "framed";
  throw ApiError.badRequest(
    `Upgrade: ask for ${TUNNEL_PROTOCOL}, or a WebSocket of it, as an agent of this version does`,
  );
}

const webSockets = new WebSockets(TUNNEL_PROTOCOL);

/** Says that it is a tunnel from now on, with lines of its own. `undefined`: the agent has left. */
const ACCEPT: Readonly<
  Record<"plain" | "framed", (asked: WebSocketUpgrade, lines: readonly string[]) => Promise<Duplex | undefined>>
> = {
  plain: (asked, lines) => switchProtocols(asked, { protocol: TUNNEL_PROTOCOL, lines }),
  framed: (asked, lines) => webSockets.accept(asked, [...lines]),
};

/**
 * Gives another hub a connection through a tunnel that this one has; none of a third hub. Whoever asks is a hub, and has seen to who may.
 *
 * @throws ApiError 503 where there is no tunnel, 404 on targets that the agent does not allow, 502 on what it cannot reach, 400 on what is asked for otherwise
 */
export async function giveStream({ req, socket, request }: StreamRequest, tunnels: Tunnels): Promise<void> {
  const { params, head, signal } = request;
  const target = req.headers[TARGET_HEADER];
  if (req.headers.upgrade !== STREAM_PROTOCOL || typeof target !== "string")
    throw ApiError.badRequest(
      `Upgrade: ask for ${STREAM_PROTOCOL}, with ${TARGET_HEADER}, as a hub of this version does`,
    );
  const stream = await openStream(tunnels, params, { target, signal });
  // A hub that has left meanwhile.
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
        throw ApiError.badGateway("the agent of this ClusterProxy cannot reach its cluster");
    }
  throw ApiError.serviceUnavailable("this hub has no tunnel to the agent of this ClusterProxy", 1);
}
