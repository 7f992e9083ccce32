// OpenID Connect issuer with TLS on this machine, with its own keys: discovery, key set, and a token endpoint without a
// browser. It can rotate keys, go down, recover and answer wrongly, and it counts requests.
import { constants, createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { JwtAuthenticator } from "@virtual-workspaces/framework/authn";
import { Authority, SERVER_AUTH } from "./certificates.ts";

export type Json = Readonly<Record<string, unknown>>;

/** Key that signs tokens. */
export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

let made = 0;

/** @param kind type of key: RSA keys take a while to generate; "rsa-1024" is too short to be safe */
export function signingKey(kind: "P-256" | "P-384" | "P-521" | "rsa" | "rsa-1024" | "ed25519" = "P-256"): SigningKey {
  const keys = kind.startsWith("rsa")
    ? generateKeyPairSync("rsa", { modulusLength: kind === "rsa" ? 2048 : 1024 })
    : kind === "ed25519"
      ? generateKeyPairSync("ed25519")
      : generateKeyPairSync("ec", { namedCurve: kind });
  made += 1;
  return { kid: `key-${made}`, ...keys };
}

/** Returns the key as an entry of a JSON Web Key Set. */
export function publicJwk({ kid, publicKey }: SigningKey, more: Json = {}): Json {
  return { kid, use: "sig", ...publicKey.export({ format: "jwk" }), ...more };
}

const base64url = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** Returns the signature by an algorithm, as bytes. HS256 accepts any text as its key. */
function signature(alg: string, input: string, key: KeyObject | string): Buffer {
  if (alg === "none") return Buffer.alloc(0);
  const bytes = Buffer.from(input);
  if (alg.startsWith("HS"))
    return createHmac(`sha${alg.slice(2)}`, key as string)
      .update(bytes)
      .digest();
  if (alg === "EdDSA") return sign(null, bytes, key as KeyObject);
  const hash = `sha${alg.slice(2)}`;
  if (alg.startsWith("ES")) return sign(hash, bytes, { key: key as KeyObject, dsaEncoding: "ieee-p1363" });
  const padding = alg.startsWith("PS") ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
  const saltLength = alg.startsWith("PS") ? Number(alg.slice(2)) / 8 : undefined;
  return sign(hash, bytes, { key: key as KeyObject, padding, ...(saltLength !== undefined && { saltLength }) });
}

export interface Signing {
  readonly key: KeyObject | string;
  /** Algorithm of the signature, whatever the header says. */
  readonly alg: string;
}

/** Returns a signed token with arbitrary parts. Strings are used unchanged. */
export function signed(header: Json | string, claims: Json | string, { key, alg }: Signing): string {
  const input = `${base64url(header)}.${base64url(claims)}`;
  return `${input}.${signature(alg, input, key).toString("base64url")}`;
}

export interface TokenOptions {
  /** Key of the signature. @default the issuer's newest */
  readonly key?: SigningKey;
  /** Algorithm. @default "ES256" */
  readonly alg?: string;
  /** More header fields; `undefined` removes a field. */
  readonly header?: Json;
}

/** "hang" sends no answer, "stall" only its beginning. */
type Answer = { readonly status?: number; readonly headers?: Json; readonly body: string | Buffer } | "hang" | "stall";

/** User who may log in. */
export interface IssuerUser {
  readonly password: string;
  readonly groups: readonly string[];
}

const USERS = { jane: { password: "pass", groups: ["readers"] } };

export interface TestIssuerOptions {
  /** Path after the port: `/tenant`. @default "" */
  readonly path?: string;
  readonly authority?: Authority;
  /** Users by name. @default Jane, in the group readers, with the password "pass" */
  readonly users?: Readonly<Record<string, IssuerUser>>;
}

/** Running issuer. */
export class TestIssuer implements AsyncDisposable {
  readonly authority: Authority;
  /** Issuer in its tokens. */
  readonly url: string;
  readonly #path: string;
  readonly #users: Readonly<Record<string, IssuerUser>>;
  readonly #server: Server;
  readonly #port: number;
  /** Published keys. */
  keys: readonly Json[];
  /** Signing key. */
  key: SigningKey = signingKey();
  /** Replaces the answer for a path, unless it returns `undefined`. */
  answer: (path: string) => Answer | undefined = () => undefined;
  /** Number of requests to each endpoint. */
  readonly counts = { discovery: 0, keys: 0, token: 0 };
  /** User whom the authorization endpoint takes the browser for; `undefined`: one who denies the sign-in. */
  browser: string | undefined = "jane";
  /** Authorization requests by their codes, each for one use. */
  readonly #authorized = new Map<string, URLSearchParams>();
  /** Paths of all requests. */
  readonly paths: string[] = [];

  private constructor(server: Server, port: number, { path = "", authority, users = USERS }: TestIssuerOptions) {
    this.authority = authority as Authority;
    this.#server = server;
    this.#port = port;
    this.#path = path.replace(/\/$/, "");
    this.#users = users;
    this.url = `https://127.0.0.1:${port}${path}`;
    this.keys = [publicJwk(this.key)];
    server.on("request", (req: IncomingMessage, res: ServerResponse) => void this.#serve(req, res));
  }

  static async start(options: TestIssuerOptions = {}): Promise<TestIssuer> {
    const authority = options.authority ?? Authority.root("issuer-test");
    const server = createServer(authority.issue({ name: "127.0.0.1", usages: [SERVER_AUTH] }));
    server.listen({ port: 0, host: "127.0.0.1" });
    await once(server, "listening");
    return new TestIssuer(server, (server.address() as AddressInfo).port, { ...options, authority });
  }

  /** Returns a configuration that accepts its tokens for the audience "vw": users by `sub`, groups by `groups`, without prefixes. */
  config(more: Partial<JwtAuthenticator> = {}): JwtAuthenticator {
    return {
      claimMappings: { username: { claim: "sub", prefix: "" }, groups: { claim: "groups", prefix: "" } },
      ...more,
      issuer: { url: this.url, audiences: ["vw"], certificateAuthority: this.authority.cert, ...more.issuer },
    };
  }

  /** Returns a token of Jane, valid for an hour. `undefined` removes a claim. */
  token(claims: Json = {}, { key = this.key, alg = "ES256", header = {} }: TokenOptions = {}): string {
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: this.url, aud: "vw", sub: "jane", exp: now + 3600, iat: now, ...claims };
    return signed({ alg, kid: key.kid, typ: "JWT", ...header }, all, { key: key.privateKey, alg });
  }

  /** Signs with a new key from now on. @param keep whether the earlier keys stay published */
  rotate(keep: boolean): void {
    this.key = signingKey();
    this.keys = [...(keep ? this.keys : []), publicJwk(this.key)];
  }

  /** Rejects connections until {@link up}. */
  async down(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async up(): Promise<void> {
    this.#server.listen({ port: this.#port, host: "127.0.0.1" });
    await once(this.#server, "listening");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.down();
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { url: path = "" } = req;
    this.paths.push(path);
    const answer = this.answer(path) ?? (await this.#answerTo(path, req));
    if (answer === "hang") return;
    if (answer === "stall") {
      res.writeHead(200, { "Content-Length": "100" }).write("{");
      return;
    }
    const { status = 200, headers = {}, body } = answer;
    res.writeHead(status, { "Content-Type": "application/json", ...(headers as Record<string, string>) }).end(body);
  }

  async #answerTo(path: string, req: IncomingMessage): Promise<Answer> {
    const [endpoint = "", search = ""] = path.slice(this.#path.length).split("?", 2);
    switch (endpoint) {
      case "/authorize":
        return this.#authorize(new URLSearchParams(search));
      case "/.well-known/openid-configuration":
        this.counts.discovery += 1;
        return { body: JSON.stringify(this.#discovery()) };
      case "/keys":
        this.counts.keys += 1;
        return { body: JSON.stringify({ keys: this.keys }) };
      case "/token":
        this.counts.token += 1;
        return this.#login(new URLSearchParams(Buffer.concat(await req.toArray()).toString()));
      default:
        return { status: 404, body: "{}" };
    }
  }

  #discovery(): Json {
    const base = this.url.replace(/\/$/, "");
    const [jwks_uri, token_endpoint, authorization_endpoint] = ["keys", "token", "authorize"].map(
      (name) => `${base}/${name}`,
    );
    return {
      issuer: this.url,
      jwks_uri,
      token_endpoint,
      authorization_endpoint,
      response_types_supported: ["code"],
      id_token_signing_alg_values_supported: ["ES256"],
    };
  }

  /** Redirects the browser back, as after a login. */
  #authorize(parameters: URLSearchParams): Answer {
    const back = new URL(parameters.get("redirect_uri") ?? "");
    back.searchParams.set("state", parameters.get("state") ?? "");
    if (this.browser === undefined) back.searchParams.set("error", "access_denied");
    else {
      const code = `code-${this.#authorized.size + 1}`;
      this.#authorized.set(code, parameters);
      back.searchParams.set("code", code);
    }
    return { status: 302, headers: { Location: back.href }, body: "" };
  }

  /** Authorization code grant with PKCE. */
  #redeem(form: URLSearchParams): Answer {
    const parameters = this.#authorized.get(form.get("code") ?? "");
    this.#authorized.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const fits =
      parameters?.get("code_challenge") === challenge && parameters.get("redirect_uri") === form.get("redirect_uri");
    if (parameters === undefined || !fits) return { status: 400, body: '{"error":"invalid_grant"}' };
    const name = this.browser ?? "";
    const claims = { sub: name, groups: this.#users[name]?.groups ?? [], nonce: parameters.get("nonce") };
    const token = this.token({ ...claims, aud: parameters.get("client_id") });
    return {
      body: JSON.stringify({ token_type: "Bearer", access_token: "opaque", id_token: token, expires_in: 3600 }),
    };
  }

  /** OAuth 2.0 grants: with a browser the authorization code, without one `password`, and `client_credentials` with the credentials of a user. */
  #login(form: URLSearchParams): Answer {
    if (form.get("grant_type") === "authorization_code") return this.#redeem(form);
    const name = form.get("username") ?? form.get("client_id") ?? "";
    const secret = form.get("password") ?? form.get("client_secret") ?? "";
    const grants = ["password", "client_credentials"];
    const user = Object.hasOwn(this.#users, name) ? this.#users[name] : undefined;
    if (!grants.includes(form.get("grant_type") ?? "") || user?.password !== secret)
      return { status: 400, body: '{"error":"invalid_grant"}' };
    const token = this.token({ sub: name, groups: user.groups });
    return { body: JSON.stringify({ token_type: "Bearer", access_token: token, id_token: token, expires_in: 3600 }) };
  }
}
