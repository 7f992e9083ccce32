import type { Authenticator } from "@virtual-workspaces/framework";
import {
  anonymous,
  authenticationConfiguration,
  clientCertificates,
  type JwtAuthenticator,
  jwt,
  requestHeader,
  tokenFile,
} from "@virtual-workspaces/framework/authn";
import type { Log } from "@virtual-workspaces/framework/server";
import { type ANONYMOUS_FLAGS, type CERTIFICATE_FLAGS, REQUEST_HEADER_FLAGS, TOKEN_FLAGS } from "../flags/servers.ts";
import type { Values } from "../flags/table.ts";
import { UsageError } from "../process/failure.ts";
import { checked, contentOf } from "../process/files.ts";

/** Who may come in by what the flags say; administrators and service accounts come on top. */
export interface Authentication {
  /** In Kubernetes' order. */
  readonly authenticators: readonly Authenticator[];
  /** Whether `--client-ca-file` has named who certifies users. */
  readonly certified: boolean;
}

type AuthenticationFlags = Partial<
  Values<typeof CERTIFICATE_FLAGS & typeof ANONYMOUS_FLAGS & typeof TOKEN_FLAGS & typeof REQUEST_HEADER_FLAGS>
>;
type FlagName = keyof AuthenticationFlags;

/** Those that say something with another alone, which is the first. */
const [, ...REQUEST_HEADERS] = Object.keys(REQUEST_HEADER_FLAGS) as FlagName[];
const [, ...OIDC] = (Object.keys(TOKEN_FLAGS) as FlagName[]).filter((name) => name.startsWith("oidc-"));

/** Reads the files that the flags name. @throws UsageError */
export function authenticationOf(flags: AuthenticationFlags, log: Log): Authentication {
  const ca = flags["client-ca-file"];
  const tokens = flags["token-auth-file"];
  const configured = configuration(flags, log);
  const letsStrangersIn = flags["anonymous-auth"] ?? true;
  if (configured?.anonymous !== undefined && flags["anonymous-auth"] !== undefined)
    throw new UsageError(
      "--anonymous-auth and --authentication-config both say who comes in without credentials: name one",
    );
  return {
    authenticators: [
      ...frontProxy(flags),
      ...(ca === undefined
        ? []
        : [checked(`--client-ca-file ${ca}`, () => clientCertificates({ caFile: readable(ca, "client-ca-file") }))]),
      ...(tokens === undefined
        ? []
        : [checked("--token-auth-file", () => tokenFile(readable(tokens, "token-auth-file")))]),
      ...openIdConnect(flags, log),
      ...(configured?.authenticators ?? []),
      ...(configured?.anonymous === undefined && letsStrangersIn ? [anonymous()] : []),
    ],
    certified: ca !== undefined,
  };
}

/** The path, once the file is seen to be readable: what comes later only says that it is not. */
function readable(path: string, flag: FlagName): string {
  contentOf(path, flag);
  return path;
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
    throw new UsageError("--oidc-issuer-url needs --oidc-client-id: for whom tokens are meant");
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
  return [checked("--oidc-issuer-url and what belongs to it", () => jwt(issuer, { log }))];
}

/** As kube-apiserver: names of claims other than `email` are an issuer's own, and say whose they are. */
function userNames(flags: AuthenticationFlags, url: string): { readonly claim: string; readonly prefix: string } {
  const claim = flags["oidc-username-claim"] ?? "sub";
  const prefix = flags["oidc-username-prefix"] ?? (claim === "email" ? "" : `${url}#`);
  return { claim, prefix: prefix === "-" ? "" : prefix };
}

function requiredClaim(text: string): { readonly claim: string; readonly requiredValue: string } {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--oidc-required-claim ${text}: write claim=value`);
  return { claim: text.slice(0, at), requiredValue: text.slice(at + 1) };
}

function configuration(
  flags: AuthenticationFlags,
  log: Log,
): ReturnType<typeof authenticationConfiguration> | undefined {
  const path = flags["authentication-config"];
  if (path === undefined) return undefined;
  const [other] = (["oidc-issuer-url", ...OIDC] as const).filter((name) => flags[name] !== undefined);
  if (other !== undefined)
    throw new UsageError(`--${other} and --authentication-config both name issuers: name them in one place`);
  const text = contentOf(path, "authentication-config");
  return checked(`--authentication-config ${path}`, () => authenticationConfiguration(text, { log }));
}

function refuseNeedless(flags: AuthenticationFlags, names: readonly FlagName[], main: FlagName): void {
  const [needless] = names.filter((name) => flags[name] !== undefined);
  if (needless !== undefined) throw new UsageError(`--${needless} says nothing without --${main}: name that as well`);
}
