// The server of the application. In production it has a certificate and a token file. Without them it creates certificates and a
// kubeconfig for this machine: kubectl sends no token over plain HTTP.
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import type { Authenticator } from "@virtual-workspaces/framework";
import { clientCertificates, tokenFile } from "@virtual-workspaces/framework/authn";
import { generatedTls } from "@virtual-workspaces/framework/tls";
import { createApp } from "./app.ts";

const DIR = ".virtual-workspaces";
const { HOST = "127.0.0.1", PORT = "8443", TLS_CERT_FILE, TLS_KEY_FILE, TOKEN_FILE = "tls/tokens.csv" } = process.env;

interface Access {
  readonly tls: ServerOptions;
  readonly authentication: readonly Authenticator[];
  /** @param view URL of the view */
  readonly kubeconfig?: (view: string) => object;
}

try {
  await serve();
} catch (error) {
  // A missing file or a port in use: the message names it, and a stack would hide it.
  console.error(
    `my-view cannot start: ${(error as Error).message}. Check HOST, PORT, TLS_CERT_FILE, TLS_KEY_FILE and TOKEN_FILE.`,
  );
  process.exit(1);
}

async function serve(): Promise<void> {
  const isProduction = TLS_CERT_FILE !== undefined && TLS_KEY_FILE !== undefined;
  const { tls, authentication, kubeconfig } = isProduction
    ? production(TLS_CERT_FILE, TLS_KEY_FILE)
    : await development();
  const { app, api, path } = createApp(authentication);
  // Headers of Kubernetes clients can be large, and their connections are idle for long.
  const server = createServer({ ...tls, maxHeaderSize: 2 ** 20, keepAliveTimeout: 120_000 }, app);
  server.maxHeadersCount = 0;
  server.on("upgrade", (req, socket, head) => void (api.upgrade(req, socket, head) || socket.destroy()));
  await api.started;
  await once(server.listen(Number(PORT), HOST), "listening");
  const url = `https://${HOST}:${(server.address() as AddressInfo).port}`;
  console.log(`The application is at ${url}, its API server at ${url}${path}`);
  if (kubeconfig !== undefined) {
    writeFileSync(`${DIR}/kubeconfig`, JSON.stringify(kubeconfig(url + path)), { mode: 0o600 });
    console.log(`\nexport KUBECONFIG=${process.cwd()}/${DIR}/kubeconfig`);
  }
  await Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
  // Ends open watches, and then idle connections.
  await api[Symbol.asyncDispose]();
  server.close();
  server.closeIdleConnections();
}

/** Each line of the token file is a user: token,user,uid,"group,group". */
function production(cert: string, key: string): Access {
  return { tls: { cert: readFileSync(cert), key: readFileSync(key) }, authentication: [tokenFile(TOKEN_FILE)] };
}

async function development(): Promise<Access> {
  const { tls, ca, users } = await generatedTls({ dir: DIR, users: [{ name: "admin", groups: ["system:masters"] }] });
  const [admin] = users;
  const base64 = (text = ""): string => Buffer.from(text).toString("base64");
  return {
    tls: {
      cert: readFileSync(tls.certFile),
      key: readFileSync(tls.keyFile),
      ca,
      requestCert: true,
      rejectUnauthorized: false,
    },
    authentication: [clientCertificates({ ca })],
    kubeconfig: (view) => ({
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        {
          name: "my-view",
          cluster: { server: `${view}/clusters/root`, "certificate-authority-data": base64(ca) },
        },
      ],
      users: [
        {
          name: "admin",
          user: { "client-certificate-data": base64(admin?.cert), "client-key-data": base64(admin?.key) },
        },
      ],
      contexts: [{ name: "my-view", context: { cluster: "my-view", user: "admin" } }],
      "current-context": "my-view",
    }),
  };
}
