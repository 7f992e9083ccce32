// The production server. It reads these files again when they change: mount them, and renew them without a restart.
import { once } from "node:events";
import { allow, createServer, deny } from "@virtual-workspaces/framework";
import { tokenFile } from "@virtual-workspaces/framework/authn";
import { jsonLog, metrics } from "@virtual-workspaces/framework/server";
import { keepHistory, lmdbStore } from "@virtual-workspaces/store";
import tickets from "./view.ts";

const {
  HOST = "0.0.0.0",
  PORT = "6443",
  DATA_DIR = "data",
  TLS_CERT_FILE = "tls/tls.crt",
  TLS_KEY_FILE = "tls/tls.key",
  TOKEN_FILE = "tls/tokens.csv", // lines of: token,user,uid,"group,group"
} = process.env;

try {
  await using store = await lmdbStore({ dir: DATA_DIR });
  using _history = keepHistory(store);
  const view = tickets({ store });
  await using log = jsonLog(); // JSON lines on stderr
  await using server = createServer({
    virtualWorkspaces: [view],
    authentication: [tokenFile(TOKEN_FILE)],
    tls: { certFile: TLS_CERT_FILE, keyFile: TLS_KEY_FILE },
    log,
    metrics: metrics({ authorize: ({ user }) => (user.in("monitoring") ? allow() : deny("only for monitoring")) }),
  });
  const { url } = await server.listen({ host: HOST, port: Number(PORT) });
  console.log(`${view.name} is served at ${url}/services/${view.name}`);
  await Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
} catch (error) {
  // A missing file or a port in use: the message names it, and a stack would hide it.
  console.error(
    `my-view cannot start: ${(error as Error).message}. Check HOST, PORT, DATA_DIR, TLS_CERT_FILE, TLS_KEY_FILE and TOKEN_FILE.`,
  );
  process.exitCode = 1;
}
