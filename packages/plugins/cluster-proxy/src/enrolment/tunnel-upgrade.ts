import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { RawRequest } from "@virtual-workspaces/framework";
import type { Hub } from "../hub/hub.ts";
import type { ProxyKey } from "../hub/proxy-key.ts";
import { HubEnd } from "../tunnel/hub-end.ts";
import type { AgentCredential } from "./agent-users.ts";
import { connectionOf, wayOf } from "./tunnel-connection.ts";
import { EPOCH_HEADER, HUB_HEADER, OTHERS_HEADER, TLS_HEADER, VERSION_HEADER } from "./wire.ts";

interface Accepted {
  readonly req: IncomingMessage;
  readonly socket: Duplex;
  readonly request: RawRequest<ProxyKey> & { readonly head: Buffer };
  readonly credential: AgentCredential & { readonly kind: "agent" };
}

/** Takes an agent's connection for a tunnel. @throws ApiError 400 on what is asked for otherwise; as {@link AgentRecords.admitted} */
export async function acceptTunnel({ req, socket, request, credential }: Accepted, hub: Hub): Promise<void> {
  const { params, head, ending } = request;
  const how = wayOf(req);
  const said = epochOf(req);
  const [version, tls] = [versionOf(req), tlsOf(req)];
  const key = { cluster: params.cluster, name: params.name };
  const { epoch, tokenIssued } = await hub.records.admitted(credential, said);
  // A client that has left meanwhile.
  if (socket.destroyed) return;
  hub.tunnels.end(key, (tunnel) => tunnel.epoch < epoch);
  const bytes = await connectionOf[how]({ req, socket, head }, [
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
