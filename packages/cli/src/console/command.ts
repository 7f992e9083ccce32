import { loadKubeconfig } from "@virtual-workspaces/client";
import { isTransportError, Upstream } from "@virtual-workspaces/transport";
import { readFlags } from "../flags/read.ts";
import { type Connection, connectionOf } from "../kubectl/connection.ts";
import { Failure } from "../process/failure.ts";
import { objectIn } from "../process/json-object.ts";
import { CONSOLE } from "./flags.ts";

/** Time limit of the request without `--request-timeout`, ms. */
const PATIENCE = 15_000;
const PATH = "/console";

/** Runs `virtual-workspaces console`. @returns the exit code @throws UsageError, Failure */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = readFlags(args, CONSOLE);
  try {
    console.log(await linkFor(connectionOf(values)));
    return 0;
  } catch (error) {
    const isExpected = isTransportError(error) || (error as Error).name === "KubeconfigError";
    throw isExpected ? new Failure((error as Error).message, { cause: error }) : error;
  }
}

/** @throws Failure, TransportError, KubeconfigError */
async function linkFor({ file, context, overrides, timeout }: Connection): Promise<string> {
  const loaded = await loadKubeconfig({ file, context, overrides });
  if (loaded.impersonate !== undefined)
    throw new Failure("a link cannot impersonate: leave out --as, and use a token of the other user");
  const { headers = [] } = (await loaded.upstream.credentials?.get()) ?? {};
  if (!headers.some((text) => text.startsWith("Bearer ")))
    throw new Failure("the user of the kubeconfig has no token: use a user with one, or --token");
  // The URL of a view is below the address of its server.
  const { url: own } = loaded.upstream;
  const url = loaded.cluster === undefined ? new URL(own).origin : own.replace(/\/services\/.*$/, "");
  await using server = new Upstream({ ...loaded.upstream, url });
  const signal = AbortSignal.timeout(timeout === 0 ? PATIENCE : timeout);
  const { status, body } = await server.send({ method: "POST", path: `${PATH}/codes`, headers: [], signal });
  const answer = objectIn(body.toString("utf8"));
  if (status === 401) throw new Failure(`${url} does not accept the token: renew the kubeconfig`);
  if (status === 403 || status === 404)
    throw new Failure(`${url} has no console (it answered ${status}): start it with --console`);
  if (typeof answer?.["code"] !== "string")
    throw new Failure(`${url} answered ${status}: ${String(answer?.["message"] ?? "try again")}`);
  return `${url}${PATH}/#code=${answer["code"]}`;
}
