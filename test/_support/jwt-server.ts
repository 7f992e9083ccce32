// Server whose callers use JSON Web Tokens, with the resulting identities.
import { allow, createServer, defineVirtualWorkspace, type Identity } from "@virtual-workspaces/framework";
import {
  type AuthenticationConfiguration,
  type JwtAuthenticator,
  type JwtSettings,
  jwt,
} from "@virtual-workspaces/framework/authn";
import type { Log, LogRecord } from "@virtual-workspaces/framework/server";
import { testLog } from "../_setup/log.ts";
import { Wire } from "./wire.ts";

/** View that returns the caller. */
const caller = defineVirtualWorkspace({
  name: "caller",
  path: "/",
  authorize: () => allow(),
  handle: (_req, res, { user }) => {
    const { name, uid, groups, extra } = user;
    res.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ name, uid, groups, extra }));
  },
});

export interface JwtServer extends AsyncDisposable {
  readonly port: number;
  readonly records: readonly LogRecord[];
  /** Returns the identity of a token's holder, or undefined for a 401. */
  ask(token: string): Promise<Identity | undefined>;
  /** Returns the reasons for rejected tokens since the last call. */
  reasons(): readonly unknown[];
}

/** Starts a server that accepts tokens of these issuers. By default it fetches keys whenever a token needs one. */
export async function startJwt(
  issuers: readonly JwtAuthenticator[] | AuthenticationConfiguration,
  settings: JwtSettings = {},
): Promise<JwtServer> {
  const { log: tell, records } = testLog();
  let closed = false;
  // Ignores fetches of keys that continue after the end of the test.
  const log: Log = (record) => (closed ? undefined : tell(record));
  const authentication =
    "authenticators" in issuers ? issuers.authenticators : [jwt(issuers, { log, fetchCooldown: 0, ...settings })];
  const server = createServer({ virtualWorkspaces: [caller], authentication, log });
  const { port } = await server.listen({ port: 0 });
  let told = 0;
  return {
    port,
    records,
    async ask(token) {
      using wire = await Wire.open(port);
      wire.request("GET /services/caller/ HTTP/1.1", "Host: x", `Authorization: Bearer ${token}`);
      const answer = await wire.answer();
      if (answer?.status === 401) return undefined;
      if (answer?.status !== 200) throw new Error(`answered ${answer?.status}`);
      return JSON.parse(answer.body) as Identity;
    },
    reasons() {
      const refused = records.filter(({ message }) => message === "token rejected").slice(told);
      told += refused.length;
      return refused.map(({ reason }) => reason);
    },
    [Symbol.asyncDispose]: () => {
      closed = true;
      return server.close();
    },
  };
}
