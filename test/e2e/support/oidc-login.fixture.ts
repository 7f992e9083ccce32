// A credential plugin of kubectl (client.authentication.k8s.io/v1) that logs in at an OpenID Connect issuer without a
// browser, with the password grant. Usage: oidc-login.fixture.ts ISSUER CA-FILE, with LOGIN_NAME and LOGIN_PASSWORD in the
// environment.
import { readFileSync } from "node:fs";
import { request } from "node:https";

const [issuer = "", caFile = ""] = process.argv.slice(2);
const ca = readFileSync(caFile);

function ask(url: string, form?: string): Promise<Readonly<Record<string, string>>> {
  return new Promise((resolve, reject) => {
    const method = form === undefined ? "GET" : "POST";
    const headers = form === undefined ? {} : { "Content-Type": "application/x-www-form-urlencoded" };
    request(url, { ca, method, headers }, async (response) => {
      const body = Buffer.concat(await response.toArray()).toString();
      if (response.statusCode === 200) resolve(JSON.parse(body));
      else reject(new Error(`the issuer says no: ${body}`));
    })
      .once("error", reject)
      .end(form);
  });
}

try {
  const { token_endpoint: endpoint = "" } = await ask(`${issuer}/.well-known/openid-configuration`);
  const { LOGIN_NAME: username = "", LOGIN_PASSWORD: password = "" } = process.env;
  const form = new URLSearchParams({ grant_type: "password", scope: "openid", username, password });
  const { id_token: token = "" } = await ask(endpoint, form.toString());
  const { exp } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const status = { token, expirationTimestamp: new Date(exp * 1000).toISOString() };
  process.stdout.write(
    JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status }),
  );
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
