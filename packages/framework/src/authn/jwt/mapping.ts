import type { JsonObject } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import { authenticatedUser, type Identity, type User } from "../../request/user.ts";
import { type CompiledExpressions, isExpressionError, type PlacedExpression } from "./compiled.ts";
import type { JwtAuthenticator } from "./jwt-options.ts";
import { TokenRejection } from "./token.ts";

/** Id of the token, which links a user's actions to the credential (Kubernetes' `user.CredentialIDKey`). */
const CREDENTIAL_ID = "authentication.kubernetes.io/credential-id";

/** Maps verified claims to users. */
export class ClaimMapper {
  readonly #config: JwtAuthenticator;
  readonly #compiled: CompiledExpressions;

  constructor(config: JwtAuthenticator, compiled: CompiledExpressions) {
    this.#config = config;
    this.#compiled = compiled;
  }

  /** @throws TokenRejection when a claim is missing or of the wrong type, or a rule is not satisfied */
  userOf(claims: JsonObject): User {
    const name = this.#username(claims);
    if (name === "") throw new TokenRejection("user name is empty");
    const identity = { name, groups: this.#groups(claims), uid: this.#uid(claims), extra: this.#extra(claims) };
    this.#checkClaims(claims);
    this.#checkUser(identity);
    return authenticatedUser(identity);
  }

  #username(claims: JsonObject): string {
    const { claim = "", prefix = "" } = this.#config.claimMappings.username;
    const { username } = this.#compiled;
    if (username !== undefined) return text(evaluate(username, { claims }), username.field);
    const name = claimText(claims, claim);
    if (claim === "email" && Object.hasOwn(claims, "email_verified") && claims["email_verified"] !== true)
      throw new TokenRejection("email is not verified: claim email_verified is not true");
    return name === "" ? "" : prefix + name;
  }

  #groups(claims: JsonObject): readonly string[] {
    const { claim = "", prefix = "" } = this.#config.claimMappings.groups ?? {};
    const { groups } = this.#compiled;
    if (groups !== undefined) return texts(evaluate(groups, { claims }), groups.field);
    if (claim === "") return [];
    if (!Object.hasOwn(claims, claim)) refuseDistributed(claims, claim);
    return texts(memberOf(claims, claim), `claim ${claim}`).map((group) => prefix + group);
  }

  #uid(claims: JsonObject): string {
    const { claim = "" } = this.#config.claimMappings.uid ?? {};
    const { uid } = this.#compiled;
    if (uid !== undefined) return text(evaluate(uid, { claims }), uid.field);
    return claim === "" ? "" : claimText(claims, claim);
  }

  #extra(claims: JsonObject): Identity["extra"] {
    const id = memberOf(claims, "jti");
    const extra: [string, readonly string[]][] =
      typeof id === "string" && id !== "" ? [[CREDENTIAL_ID, [`JTI=${id}`]]] : [];
    for (const placed of this.#compiled.extra) {
      const values = texts(evaluate(placed, { claims }), placed.field);
      if (values.length > 0) extra.push([placed.key, values]);
    }
    return Object.fromEntries(extra);
  }

  #checkClaims(claims: JsonObject): void {
    for (const { claim = "", requiredValue = "" } of this.#config.claimValidationRules ?? []) {
      if (claim !== "" && claimText(claims, claim) !== requiredValue)
        throw new TokenRejection(`claim ${claim} does not have the required value`);
    }
    for (const rule of this.#compiled.claimRules) check(rule, { claims });
  }

  #checkUser({ name, ...user }: Identity): void {
    for (const rule of this.#compiled.userRules) check(rule, { user: { username: name, ...user } });
  }
}

function check(rule: PlacedExpression, values: Readonly<Record<string, unknown>>): void {
  const holds = evaluate(rule, values);
  if (holds === true) return;
  throw new TokenRejection(
    rule.message === "" ? `${rule.field} is not satisfied` : `${rule.field} is not satisfied: ${rule.message}`,
  );
}

function evaluate({ expression, field }: PlacedExpression, values: Readonly<Record<string, unknown>>): unknown {
  try {
    return expression.evaluate(values);
  } catch (error) {
    if (!isExpressionError(error)) throw error;
    throw new TokenRejection(`${field} could not be evaluated: ${error.message}`);
  }
}

function claimText(claims: JsonObject, claim: string): string {
  if (!Object.hasOwn(claims, claim)) throw new TokenRejection(`claim ${claim} is missing`);
  return text(memberOf(claims, claim), `claim ${claim}`);
}

function text(value: unknown, what: string): string {
  if (typeof value !== "string") throw new TokenRejection(`${what} must be a string`);
  return value;
}

/** Returns a string or a list of strings as a list; empty strings are dropped. */
function texts(value: unknown, what: string): readonly string[] {
  const list = value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
  if (!list.every((one) => typeof one === "string"))
    throw new TokenRejection(`${what} must be a string or a list of strings`);
  return list.filter((one) => one !== "");
}

/** Security: groups behind a distributed claim must not count as none, or a user whom a group excludes would be accepted. */
function refuseDistributed(claims: JsonObject, claim: string): void {
  const names = memberOf(claims, "_claim_names");
  if (typeof names === "object" && names !== null && Object.hasOwn(names, claim))
    throw new TokenRejection(
      `claim ${claim} is a distributed claim, which is not supported: put its value into the token`,
    );
}
