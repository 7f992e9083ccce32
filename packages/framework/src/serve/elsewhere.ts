import { decodeContinue } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";
import type { PassOn } from "../request/peers.ts";
import type { ServedResource } from "../resource/served.ts";
import { Minter } from "../watch/cache/minter.ts";
import { rawRequest } from "./raw.ts";

/** Has another process answer that has what is asked for. `undefined`: this one has it. */
export function askedElsewhere(exchange: Exchange, resource: ServedResource): Promise<boolean> | undefined {
  const { core, upgradeHead } = exchange;
  if (core.peers === undefined || resource.storage.local !== true || upgradeHead !== undefined) return undefined;
  const pass = core.peers({
    req: exchange.req,
    virtualWorkspace: exchange.mounted.name,
    minter: minterOf(exchange),
  });
  return pass && passOn(exchange, pass);
}

async function passOn(exchange: Exchange, pass: PassOn): Promise<boolean> {
  const { core, req, res } = exchange;
  core.identityHeaders.drop(req);
  if (exchange.info.longRunning) exchange.leaveSeat();
  exchange.answered = true;
  exchange.answered = await pass(req, res, rawRequest(exchange));
  return exchange.answered;
}

const READS: ReadonlySet<string> = new Set(["get", "list", "watch", "deletecollection"]);

/** Who gave the version that a read goes by. What is malformed is for whoever answers to refuse. */
function minterOf({ info, query, search }: Exchange): number | undefined {
  if (search === "" || !READS.has(info.verb)) return undefined;
  return Minter.of(versionOf(query) ?? "");
}

function versionOf(query: URLSearchParams): string | undefined {
  const token = query.get("continue");
  if (token === null || token === "") return query.get("resourceVersion") ?? undefined;
  try {
    return decodeContinue(token).resourceVersion;
  } catch {
    return undefined;
  }
}
