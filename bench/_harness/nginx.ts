import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../test/_support/free-ports.ts";
import { findNginx } from "../../tools/nginx.mjs";

/** An nginx that passes everything on to one server. */
export interface Nginx extends AsyncDisposable {
  readonly port: number;
}

/** Files of an nginx that speaks TLS on both sides. */
export interface NginxTLS {
  readonly cert: string;
  readonly key: string;
}

/** Starts one, with one worker and without buffering; `undefined` where there is none. */
export async function startNginx(upstream: number, tls?: NginxTLS): Promise<Nginx | undefined> {
  const program = findNginx();
  if (program === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "virtual-workspaces-nginx-"));
  const port = await freePort();
  writeFileSync(join(folder, "nginx.conf"), configuration(port, upstream, tls));
  const child = spawn(program, ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")], { stdio: "ignore" });
  await up(port, child);
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** By itself nginx ends a connection behind a thousand requests. */
function configuration(port: number, upstream: number, tls: NginxTLS | undefined): string {
  const [scheme, listen] = tls ? ["https", `127.0.0.1:${port} ssl`] : ["http", `127.0.0.1:${port}`];
  const files = tls ? `ssl_certificate ${tls.cert}; ssl_certificate_key ${tls.key};` : "";
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${name};`);
  return `daemon off; master_process off; pid nginx.pid; error_log stderr crit;
events { worker_connections 256; }
http {
  access_log off; ${folders.join(" ")}
  keepalive_requests 1000000000;
  upstream behind { server 127.0.0.1:${upstream}; keepalive 16; keepalive_requests 1000000000; }
  server {
    listen ${listen}; ${files}
    location / { proxy_pass ${scheme}://behind; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }
  }
}
`;
}

async function up(port: number, child: ChildProcess): Promise<void> {
  for (let patience = performance.now() + 5000; performance.now() < patience; ) {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`);
    const socket = connect(port, "127.0.0.1");
    const connected = await Promise.race([
      once(socket, "connect").then(() => true),
      once(socket, "error").then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (connected) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("nginx does not listen after 5 s");
}
