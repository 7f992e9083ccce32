import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { RawRequest } from "@virtual-workspaces/framework";
import { STREAM_PROTOCOL, TARGET_HEADER } from "../enrolment/wire.ts";
import type { ProxyKey } from "../hub/proxy-key.ts";
import type { Tunnels } from "../hub/tunnels.ts";
import { join } from "../tunnel/join.ts";
import { switched } from "../tunnel/switched.ts";
import { isTunnelError } from "../tunnel/tunnel-error.ts";

interface Asked {
  readonly req: IncomingMessage;
  readonly socket: Duplex;
  readonly request: RawRequest<ProxyKey> & { readonly head: Buffer };
}

/**
 * Gives another hub a connection through a tunnel that this one has; none of a third hub. Whoever asks is a hub, and has seen to who may.
 *
 * @throws ApiError 503 where there is no tunnel, 404 on targets that the agent does not allow, 502 on what it cannot reach, 400 on what is asked for otherwise
 */
export async function giveStream({ req, socket, request }: Asked, tunnels: Tunnels): Promise<void> {
  const { params, head, signal } = request;
  const target = req.headers[TARGET_HEADER];
  if (req.headers.upgrade !== STREAM_PROTOCOL || typeof target !== "string")
    throw ApiError.badRequest(
      `Upgrade: ask for ${STREAM_PROTOCOL}, with ${TARGET_HEADER}, as a hub of this version does`,
    );
  const stream = await opened(tunnels, params, { target, signal });
  // A hub that has left meanwhile.
  if (socket.destroyed) {
    stream.destroy();
    return;
  }
  await switched({ socket, head }, { protocol: STREAM_PROTOCOL });
  join(stream, socket);
}

async function opened(
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
