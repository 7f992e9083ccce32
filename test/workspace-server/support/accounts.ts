// A server with service accounts in several logical clusters, their Secrets, tokens and reviews, and a view that shows the
// caller; all over real sockets.
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import {
  type Authenticator,
  type Authorizer,
  allow,
  defineResource,
  defineVirtualWorkspace,
  type Identity,
  staticTokens,
} from "@virtual-workspaces/framework";
import { LocalSubjectAccessReview, SubjectAccessReview, TokenReview } from "@virtual-workspaces/framework/authz";
import { ServiceAccountKeys } from "@virtual-workspaces/workspace-server";
import {
  LocalSubjectAccessReviews,
  SubjectAccessReviews,
} from "../../../packages/workspace-server/src/reviews/access-reviews.ts";
import { TokenReviews } from "../../../packages/workspace-server/src/reviews/token-reviews.ts";
import {
  type AudienceAuthenticator,
  serviceAccountTokens,
} from "../../../packages/workspace-server/src/tokens/authenticator.ts";
import type { AccountLookup } from "../../../packages/workspace-server/src/tokens/liveness.ts";
import { TokenMinter } from "../../../packages/workspace-server/src/tokens/minter.ts";
import { TokenRequest, tokenSubresource } from "../../../packages/workspace-server/src/tokens/token-request.ts";
import { testLog } from "../../_setup/log.ts";
import { signingKey } from "../../_support/issuer.ts";
import { type Answer, type CallOptions, type PlainServer, startPlain } from "../../_support/plain.ts";
import { whoami } from "../../_support/whoami.ts";

const ServiceAccount = defineResource({
  group: "",
  version: "v1",
  kind: "ServiceAccount",
  scope: "Namespaced",
  schema: { type: "object", properties: {} },
});
const Secret = defineResource({
  group: "",
  version: "v1",
  kind: "Secret",
  scope: "Namespaced",
  schema: {
    type: "object",
    properties: {
      type: { type: "string" },
      data: { type: "object", additionalProperties: { type: "string" } },
    },
  },
});

const AUDIENCE = "https://kcp.default.svc";
export const AUTHN = "authentication.k8s.io/v1";
export const AUTHZ = "authorization.k8s.io/v1";

export function pemOf(
  key: { export(options: { type: "pkcs8" | "spki"; format: "pem" }): string | Buffer },
  type: "pkcs8" | "spki",
): string {
  return key.export({ type, format: "pem" }) as string;
}

/** One key for all tests, since generating one takes a while. */
export const RSA = signingKey("rsa");
export const EC = signingKey();
export const KEYS = new ServiceAccountKeys({ signing: pemOf(RSA.privateKey, "pkcs8") });

export interface AccountServerOptions {
  readonly keys?: ServiceAccountKeys;
  readonly authorizer?: Authorizer<Readonly<Record<string, string>>>;
  readonly maxSeconds?: number;
  /** Authenticators besides those of accounts. */
  readonly authenticators?: readonly Authenticator[];
}

export class AccountServer implements AsyncDisposable {
  readonly accounts = ServiceAccount.collection();
  readonly secrets = Secret.collection();
  readonly keys: ServiceAccountKeys;
  readonly minter: TokenMinter;
  readonly authenticator: AudienceAuthenticator;
  /** Offset of the server's clock, in milliseconds. */
  ahead = 0;
  /** Error that lookups throw. */
  fault: Error | undefined;
  #plain: PlainServer | undefined;

  constructor({ keys = KEYS }: AccountServerOptions) {
    this.keys = keys;
    const now = (): number => Date.now() + this.ahead;
    this.minter = new TokenMinter({ keys, now });
    this.authenticator = serviceAccountTokens({ keys, accounts: this.lookup, now });
  }

  readonly lookup: AccountLookup = {
    serviceAccount: (cluster, namespace, name) => {
      if (this.fault !== undefined) throw this.fault;
      return this.accounts.in(cluster, namespace).get(name) as KubeObject | undefined;
    },
    secret: (cluster, namespace, name) => this.secrets.in(cluster, namespace).get(name) as KubeObject | undefined,
  };

  static async start(options: AccountServerOptions = {}): Promise<AccountServer> {
    const accounts = new AccountServer(options);
    const { log } = testLog();
    const alice = staticTokens({ alice: { name: "alice", uid: "17" } });
    const authentication = [alice, accounts.authenticator, ...(options.authenticators ?? [])];
    const { authorizer = () => allow(), maxSeconds } = options;
    const view = defineVirtualWorkspace({
      name: "accounts",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      resources: [
        ServiceAccount.serve(accounts.accounts, {
          subresources: {
            token: tokenSubresource({
              kind: TokenRequest,
              minter: accounts.minter,
              accounts: accounts.lookup,
              audiences: [AUDIENCE],
              ...(maxSeconds !== undefined && { maxSeconds }),
            }),
          },
        }),
        Secret.serve(accounts.secrets),
        TokenReview.serve(new TokenReviews({ authenticators: authentication, audiences: [AUDIENCE], log })),
        SubjectAccessReview.serve(new SubjectAccessReviews({ authorizer, log })),
        LocalSubjectAccessReview.serve(new LocalSubjectAccessReviews({ authorizer, log })),
      ],
    });
    accounts.#plain = await startPlain([view, whoami()], { authentication, log });
    return accounts;
  }

  get url(): string {
    return this.#server.url;
  }

  get #server(): PlainServer {
    if (this.#plain === undefined) throw new Error("it is not up");
    return this.#plain;
  }

  /** Creates an account. */
  account(cluster = "one", name = "builder"): KubeObject {
    return this.accounts.in(cluster, "default").set(name, {}) as KubeObject;
  }

  /** Returns a token for it, valid for an hour. */
  async token(cluster = "one", name = "builder"): Promise<string> {
    const account = this.account(cluster, name);
    return (await this.minter.bound({ cluster, account, audiences: [AUDIENCE], seconds: 3600 })).token;
  }

  /** Returns the user of a token; undefined for 401. */
  async ask(token: string): Promise<Identity | undefined> {
    const answer = await this.#server.get("/services/who/", { headers: { authorization: `Bearer ${token}` } });
    if (answer.status === 401 && answer.body.message === "Unauthorized") return undefined;
    if (answer.status !== 200) throw new Error(`answered ${answer.status}`);
    const { name, uid, groups, extra } = answer.body as Identity;
    return { name, uid, groups, extra };
  }

  /** Sends a POST to a logical cluster, as alice. */
  post(
    path: string,
    body: unknown,
    { cluster = "one", ...options }: CallOptions & { readonly cluster?: string } = {},
  ): Promise<Answer> {
    return this.#server.send(`POST /services/accounts/clusters/${cluster}${path}`, body, options);
  }

  request(spec: object, name = "builder"): Promise<Answer> {
    const body = { apiVersion: AUTHN, kind: "TokenRequest", spec };
    return this.post(`/api/v1/namespaces/default/serviceaccounts/${name}/token`, body);
  }

  /** Returns the status of a TokenReview. */
  async review(token: string, audiences?: readonly string[]): Promise<Record<string, unknown>> {
    const body = { apiVersion: AUTHN, kind: "TokenReview", spec: { token, ...(audiences && { audiences }) } };
    const answer = await this.post(`/apis/${AUTHN}/tokenreviews`, body, { cluster: "two" });
    if (answer.status !== 201) throw new Error(`answered ${answer.status}: ${answer.text}`);
    return answer.body.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}
