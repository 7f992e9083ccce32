import { X509Certificate } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Authenticator } from "@virtual-workspaces/framework";
import {
  type AuthenticationConfiguration,
  anonymous,
  authenticationConfiguration,
  clientCertificates,
  type JwtAuthenticator,
  jwt,
  requestHeader,
  type TokenAuthenticator,
  tokenFile,
} from "@virtual-workspaces/framework/authn";
import type { Log } from "@virtual-workspaces/framework/server";
import { type ANONYMOUS_FLAGS, type CERTIFICATE_FLAGS, REQUEST_HEADER_FLAGS, TOKEN_FLAGS } from "../flags/servers.ts";
import type { Values } from "../flags/table.ts";
import { UsageError } from "../process/failure.ts";
import { checked, contentOf } from "../process/files.ts";
import { ConfigFile } from "./config-file.ts";

/** Authentication that the flags select. Administrators and service accounts are added to it. */
export interface Authentication {
  /** Authenticators in Kubernetes' order. */
  readonly authenticators: readonly Authenticator[];
  /** Whether `--client-ca-file` is set. */
  readonly certified: boolean;
  /** File of `--authentication-config`, which is to be followed. */
  readonly file: ConfigFile | undefined;
}

type AuthenticationFlags = Partial<
  Values<typeof CERTIFICATE_FLAGS & typeof ANONYMOUS_FLAGS & typeof TOKEN_FLAGS & typeof REQUEST_HEADER_FLAGS>
>;
type FlagName = keyof AuthenticationFlags;

/** Flags that need the first one to have an effect. */
const [, ...REQUEST_HEADERS] = Object.keys(REQUEST_HEADER_FLAGS) as FlagName[];
const [, ...OIDC] = (Object.keys(TOKEN_FLAGS) as FlagName[]).filter((name) => name.startsWith("oidc-"));

/** Options of {@link authenticationOf}. */
interface AuthenticationChoice {
  /** Whether a client certificate of a user, together with a header of a proxy, gets 400. @default the header is ignored, as in Kubernetes */
  readonly strict?: boolean;
}

/** Reads the files that the flags name. @throws UsageError */
export function authenticationOf(
  flags: AuthenticationFlags,
  log: Log,
  { strict = false }: AuthenticationChoice = {},
): Authentication {
  const ca = flags["client-ca-file"];
  const tokens = flags["token-auth-file"];
  const configured = configuration(flags, log);
  const letsStrangersIn = flags["anonymous-auth"] ?? true;
  if (configured?.anonymous !== undefined && flags["anonymous-auth"] !== undefined)
    throw new UsageError(
      "--anonymous-auth and --authentication-config both configure anonymous requests: use only one",
    );
  return {
    authenticators: [
      ...frontProxy(flags),
      ...certificates(flags, strict),
      ...(tokens === undefined
        ? []
        : [checked("--token-auth-file", () => tokenFile(readable(tokens, "token-auth-file")))]),
      ...openIdConnect(flags, log),
      ...(configured?.authenticators ?? []),
      ...(configured?.anonymous === undefined && letsStrangersIn ? [anonymous()] : []),
    ],
    certified: ca !== undefined,
    file: configured?.file,
  };
}

/** Returns the path of a readable file: later errors would not name the flag. */
function readable(path: string, flag: FlagName): string {
  contentOf(path, flag);
  return path;
}

function certificates(flags: AuthenticationFlags, strict: boolean): Authenticator[] {
  const ca = flags["client-ca-file"];
  if (ca === undefined) return [];
  const named = flags["requestheader-username-headers"] ?? [];
  const proxyHeaders = strict ? (named.length > 0 ? named : ["X-Remote-User"]) : [];
  return [
    checked(`--client-ca-file ${ca}`, () =>
      clientCertificates({ caFile: readable(ca, "client-ca-file"), proxyHeaders }),
    ),
  ];
}

/** @throws UsageError when users could name other users, because one authority signs the certificates of users and proxies */
function checkSeparate(users: string | undefined, proxies: string): void {
  if (users === undefined) return;
  const ofUsers = new Set(authoritiesIn(contentOf(users, "client-ca-file")));
  if (authoritiesIn(contentOf(proxies, "requestheader-client-ca-file")).some((one) => ofUsers.has(one)))
    throw new UsageError(
      "--client-ca-file and --requestheader-client-ca-file share an authority, so that each of its users could act as any user: set --requestheader-allowed-names to the common names of the front proxies",
    );
}

/** Returns the fingerprints of the certificates in a PEM text. Other checks report those that cannot be parsed. */
function authoritiesIn(pem: string): readonly string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.flatMap((block) => {
    try {
      return [new X509Certificate(block).fingerprint256];
    } catch {
      return [];
    }
  });
}

function frontProxy(flags: AuthenticationFlags): Authenticator[] {
  const caFile = flags["requestheader-client-ca-file"];
  if (caFile === undefined) {
    refuseNeedless(flags, REQUEST_HEADERS, "requestheader-client-ca-file");
    return [];
  }
  const header = (
    name: keyof typeof REQUEST_HEADER_FLAGS & `${string}${"s" | "prefix"}`,
  ): readonly string[] | undefined => (flags[name]?.length === 0 ? undefined : flags[name]);
  const allowedNames = header("requestheader-allowed-names");
  if (allowedNames === undefined) checkSeparate(flags["client-ca-file"], caFile);
  const userHeaders = header("requestheader-username-headers");
  const uidHeaders = header("requestheader-uid-headers");
  const groupHeaders = header("requestheader-group-headers");
  const extraHeaderPrefixes = header("requestheader-extra-headers-prefix");
  return [
    checked(`--requestheader-client-ca-file ${caFile}`, () =>
      requestHeader({
        caFile: readable(caFile, "requestheader-client-ca-file"),
        ...(allowedNames && { allowedNames }),
        ...(userHeaders && { userHeaders }),
        ...(uidHeaders && { uidHeaders }),
        ...(groupHeaders && { groupHeaders }),
        ...(extraHeaderPrefixes && { extraHeaderPrefixes }),
      }),
    ),
  ];
}

function openIdConnect(flags: AuthenticationFlags, log: Log): Authenticator[] {
  const url = flags["oidc-issuer-url"];
  if (url === undefined) {
    refuseNeedless(flags, OIDC, "oidc-issuer-url");
    return [];
  }
  const audience = flags["oidc-client-id"];
  if (audience === undefined)
    throw new UsageError("--oidc-issuer-url needs --oidc-client-id: set it to the audience of the tokens");
  const caFile = flags["oidc-ca-file"];
  const groupsClaim = flags["oidc-groups-claim"];
  const issuer: JwtAuthenticator = {
    issuer: {
      url,
      audiences: [audience],
      ...(caFile === undefined ? {} : { certificateAuthority: contentOf(caFile, "oidc-ca-file") }),
    },
    claimValidationRules: (flags["oidc-required-claim"] ?? []).map(requiredClaim),
    claimMappings: {
      username: userNames(flags, url),
      ...(groupsClaim === undefined
        ? {}
        : { groups: { claim: groupsClaim, prefix: flags["oidc-groups-prefix"] ?? "" } }),
    },
  };
  return [checked("--oidc-issuer-url and its other flags", () => jwt(issuer, { log }))];
}

/** Returns the claim and prefix, as kube-apiserver does: names from claims other than `email` get the issuer as a prefix. */
function userNames(flags: AuthenticationFlags, url: string): { readonly claim: string; readonly prefix: string } {
  const claim = flags["oidc-username-claim"] ?? "sub";
  const prefix = flags["oidc-username-prefix"] ?? (claim === "email" ? "" : `${url}#`);
  return { claim, prefix: prefix === "-" ? "" : prefix };
}

function requiredClaim(text: string): { readonly claim: string; readonly requiredValue: string } {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`invalid value "${text}" for --oidc-required-claim: use claim=value`);
  return { claim: text.slice(0, at), requiredValue: text.slice(at + 1) };
}

interface Configured extends Pick<AuthenticationConfiguration, "anonymous" | "authenticators"> {
  readonly file: ConfigFile;
}

/** Reads the configuration. When the file changes, the issuers are replaced; as in Kubernetes, `anonymous` must not change. */
function configuration(flags: AuthenticationFlags, log: Log): Configured | undefined {
  const path = flags["authentication-config"];
  if (path === undefined) return undefined;
  const [other] = (["oidc-issuer-url", ...OIDC] as const).filter((name) => flags[name] !== undefined);
  if (other !== undefined)
    throw new UsageError(`--${other} and --authentication-config both configure issuers: use only one`);
  const text = contentOf(path, "authentication-config");
  const read = (content: string): AuthenticationConfiguration =>
    checked(`--authentication-config ${path}`, () => authenticationConfiguration(content, { log }));
  const { anonymous, authenticators } = read(text);
  const tokens = new ReplacedTokens(tokensOf(authenticators));
  const file = new ConfigFile({
    ...{ subject: "authentication", path, text },
    use: (content) => {
      const next = read(content);
      if (!isDeepStrictEqual(next.anonymous, anonymous))
        throw new Error(
          `--authentication-config ${path}: anonymous: Forbidden: changed from initial configuration file`,
        );
      tokens.current = tokensOf(next.authenticators);
    },
  });
  return { anonymous, authenticators: [tokens, ...authenticators.filter((one) => !isOfTokens(one))], file };
}

function isOfTokens(authenticator: Authenticator): authenticator is TokenAuthenticator {
  return "authenticateToken" in authenticator;
}

function tokensOf(authenticators: readonly Authenticator[]): TokenAuthenticator | undefined {
  return authenticators.find(isOfTokens);
}

/** Authenticates tokens by the issuers of the current configuration, if it has some. */
class ReplacedTokens implements TokenAuthenticator {
  readonly name = "jwt";
  current: TokenAuthenticator | undefined;

  constructor(first: TokenAuthenticator | undefined) {
    this.current = first;
  }

  authenticate(...args: Parameters<TokenAuthenticator["authenticate"]>) {
    return this.current?.authenticate(...args);
  }

  authenticateToken(token: string) {
    return this.current?.authenticateToken(token);
  }

  unrecognized(token: string): void {
    this.current?.unrecognized?.(token);
  }
}

function refuseNeedless(flags: AuthenticationFlags, names: readonly FlagName[], main: FlagName): void {
  const [needless] = names.filter((name) => flags[name] !== undefined);
  if (needless !== undefined) throw new UsageError(`--${needless} has no effect without --${main}: set both`);
}
