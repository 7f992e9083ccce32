import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { RawRequest } from "@virtual-workspaces/framework";
import type { Hub } from "../hub/hub.ts";
import type { ProxyKey } from "../hub/proxy-key.ts";
import { HubEnd } from "../tunnel/hub-end.ts";
import type { AgentCredential } from "./agent-users.ts";
import { EPOCH_HEADER, TUNNEL_PROTOCOL, VERSION_HEADER } from "./wire.ts";

interface Accepted {
  readonly req: IncomingMessage;
  readonly socket: Duplex;
  readonly request: RawRequest<ProxyKey> & { readonly head: Buffer };
  readonly credential: AgentCredential & { readonly kind: "agent" };
}

/** Takes an agent's connection for a tunnel. @throws ApiError 400 on what is asked for otherwise; as {@link AgentRecords.admitted} */
export async function acceptTunnel({ req, socket, request, credential }: Accepted, hub: Hub): Promise<void> {
  const { params, head, ending } = request;
  if (req.headers.upgrade !== TUNNEL_PROTOCOL)
    throw ApiError.badRequest(`Upgrade: ask for ${TUNNEL_PROTOCOL}, as an agent of this version does`);
  const said = epochOf(req);
  const version = versionOf(req);
  const key = { cluster: params.cluster, name: params.name };
  const { epoch, tokenIssued } = await hub.records.admitted(credential, said);
  // A client that has left meanwhile.
  if (socket.destroyed) return;
  hub.tunnels.end(key, (tunnel) => tunnel.epoch < epoch);
  const lines = [
    "HTTP/1.1 101 Switching Protocols",
    "Connection: Upgrade",
    `Upgrade: ${TUNNEL_PROTOCOL}`,
    `${EPOCH_HEADER}: ${epoch}`,
  ];
  // Node's HTTP/2 takes over what is below the stream, and ends the process where a write is under way there.
  await written(socket, Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"));
  if (socket.destroyed) return;
  if (head.length > 0) socket.unshift(head);
  const end = new HubEnd(socket, hub.options.tunnel);
  const { enrolment } = credential.proven.identity;
  hub.tunnels.add(key, { end, epoch, version, enrolment, tokenIssued });
  const drain = (): void => void end.drain();
  ending.addEventListener("abort", drain, { once: true });
  if (ending.aborted) drain();
  await end.closed;
  ending.removeEventListener("abort", drain);
}

/** Resolves when it has been handed to the machine, or never will be. */
function written(socket: Duplex, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => socket.write(bytes, () => resolve()));
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
