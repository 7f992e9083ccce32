import {
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  nameProblems,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import type { Expression } from "../../cel/expression.ts";
import { LazyExpressions } from "../../cel/lazy-expressions.ts";
import type { ClaimMappings, ClaimValidationRule, JwtAuthenticator, UserValidationRule } from "./jwt-options.ts";

/** Expression and the path of its field, for logs. */
export interface PlacedExpression {
  readonly field: string;
  readonly expression: Expression;
  /** Message of the rule. */
  readonly message: string;
}

/** Compiled expressions of an authenticator. */
export interface CompiledExpressions {
  readonly username: PlacedExpression | undefined;
  readonly groups: PlacedExpression | undefined;
  readonly uid: PlacedExpression | undefined;
  readonly extra: readonly (PlacedExpression & { readonly key: string })[];
  readonly claimRules: readonly PlacedExpression[];
  readonly userRules: readonly PlacedExpression[];
}

/** Compiles the expressions of an authenticator and adds errors, with Kubernetes' texts, to `causes`. */
export class MappingCompiler {
  readonly #path: string;
  readonly #causes: StatusCause[];

  /** @param path path of the authenticator, such as `jwt[0]` */
  constructor(path: string, causes: StatusCause[]) {
    this.#path = path;
    this.#causes = causes;
  }

  compile({
    claimMappings,
    claimValidationRules = [],
    userValidationRules = [],
  }: JwtAuthenticator): CompiledExpressions {
    const claimRules = this.#claimRules(claimValidationRules);
    const mappings = `${this.#path}.claimMappings`;
    const username = this.#prefixed(claimMappings.username, `${mappings}.username`, true);
    const groups = this.#prefixed(claimMappings.groups ?? {}, `${mappings}.groups`, false);
    const uid = this.#uid(claimMappings.uid ?? {}, `${mappings}.uid`);
    const extra = this.#extra(claimMappings.extra ?? [], `${mappings}.extra`);
    this.#requireVerifiedEmail(username, [...claimRules, ...extra]);
    return { username, groups, uid, extra, claimRules, userRules: this.#userRules(userValidationRules) };
  }

  #claimRules(rules: readonly ClaimValidationRule[]): PlacedExpression[] {
    const claims = new Set<string>();
    const expressions = new Set<string>();
    return rules.flatMap(({ claim = "", requiredValue = "", expression = "", message = "" }, at) => {
      const field = `${this.#path}.claimValidationRules[${at}]`;
      if (claim !== "" && expression !== "") {
        this.#causes.push(fieldInvalid(field, claim, "claim and expression can't both be set"));
      } else if (claim !== "") {
        if (message !== "")
          this.#causes.push(fieldInvalid(`${field}.message`, message, "may not be specified when claim is set"));
        this.#once(claims, claim, `${field}.claim`);
      } else if (expression !== "") {
        const detail = "may not be specified when expression is set";
        if (requiredValue !== "") this.#causes.push(fieldInvalid(`${field}.requiredValue`, requiredValue, detail));
        if (this.#once(expressions, expression, `${field}.expression`))
          return this.#compiled(expression, `${field}.expression`, { message, wanted: "bool" });
      } else this.#causes.push(fieldRequired(field, "claim or expression is required"));
      return [];
    });
  }

  #userRules(rules: readonly UserValidationRule[]): PlacedExpression[] {
    const expressions = new Set<string>();
    return rules.flatMap(({ expression, message = "" }, at) => {
      const field = `${this.#path}.userValidationRules[${at}].expression`;
      if (expression === "") this.#causes.push(fieldRequired(field));
      else if (this.#once(expressions, expression, field))
        return this.#compiled(expression, field, { message, wanted: "bool", sees: "user" });
      return [];
    });
  }

  #prefixed(mapping: ClaimMappings["username"], field: string, required: boolean): PlacedExpression | undefined {
    const { claim = "", prefix, expression = "" } = mapping;
    if (claim !== "" && expression !== "") {
      this.#causes.push(fieldInvalid(field, "", "claim and expression can't both be set"));
    } else if (expression !== "") {
      const detail = "may not be specified when expression is set";
      if (prefix !== undefined) this.#causes.push(fieldInvalid(`${field}.prefix`, prefix, detail));
      return this.#compiled(expression, `${field}.expression`)[0];
    } else if (claim !== "") {
      const detail = "prefix is required when claim is set. It can be set to an empty string to disable prefixing";
      if (prefix === undefined) this.#causes.push(fieldRequired(`${field}.prefix`, detail));
    } else if (required) this.#causes.push(fieldRequired(field, "claim or expression is required"));
    return undefined;
  }

  #uid(
    { claim = "", expression = "" }: NonNullable<ClaimMappings["uid"]>,
    field: string,
  ): PlacedExpression | undefined {
    if (claim !== "" && expression !== "") {
      this.#causes.push(fieldInvalid(field, "", "claim and expression can't both be set"));
      return undefined;
    }
    return expression === "" ? undefined : this.#compiled(expression, `${field}.expression`)[0];
  }

  #extra(mappings: NonNullable<ClaimMappings["extra"]>, path: string): (PlacedExpression & { key: string })[] {
    const keys = new Set<string>();
    return mappings.flatMap(({ key, valueExpression }, at) => {
      const field = `${path}[${at}]`;
      this.#causes.push(...keyProblems(key, `${field}.key`));
      if (!this.#once(keys, key, `${field}.key`)) return [];
      if (valueExpression === "") {
        this.#causes.push(fieldRequired(`${field}.valueExpression`));
        return [];
      }
      return this.#compiled(valueExpression, `${field}.valueExpression`).map((placed) => ({ ...placed, key }));
    });
  }

  /** Security: a user can claim any email address, so an unverified address must not name a user. */
  #requireVerifiedEmail(username: PlacedExpression | undefined, others: readonly PlacedExpression[]): void {
    if (username === undefined || !username.expression.selects("claims", "email")) return;
    if ([username, ...others].some(({ expression }) => expression.selects("claims", "email_verified"))) return;
    const detail =
      "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression";
    this.#causes.push(fieldInvalid(username.field, username.expression.source, detail));
  }

  #compiled(
    source: string,
    field: string,
    rule: { readonly message?: string; readonly wanted?: "bool"; readonly sees?: "user" } = {},
  ): PlacedExpression[] {
    const { message = "", sees = "claims", ...wanted } = rule;
    const expression = compileField(source, { field, sees, ...wanted }, this.#causes);
    return expression === undefined ? [] : [{ field, expression, message }];
  }

  #once(seen: Set<string>, value: string, field: string): boolean {
    if (seen.has(value)) this.#causes.push(fieldDuplicate(field, value));
    return seen.size < seen.add(value).size;
  }
}

const RESERVED = /(^|\.)(kubernetes|k8s)\.io$/;
const PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** Extra keys must have a domain prefix, and Kubernetes reserves some domains. */
function keyProblems(key: string, field: string): StatusCause[] {
  if (key === "") return [fieldRequired(field)];
  const slash = key.indexOf("/");
  const [domain, path] = [key.slice(0, Math.max(slash, 0)), key.slice(slash + 1)];
  const problems: StatusCause[] = [];
  if (domain === "" || path === "") {
    problems.push(fieldInvalid(field, key, 'must be a domain-prefixed path (such as "acme.io/foo")'));
  } else {
    problems.push(...nameProblems(domain).map((detail) => fieldInvalid(field, domain, detail)));
    if (!PATH.test(path))
      problems.push(
        fieldInvalid(field, path, `Invalid path (regex used for validation is '${PATH.source.slice(1, -1)}')`),
      );
  }
  if (key !== key.toLowerCase()) problems.push(fieldInvalid(field, key, "must be lowercase"));
  if (RESERVED.test(domain))
    problems.push(
      fieldInvalid(field, key, "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"),
    );
  return problems;
}

const TEXT = { type: "string" } as const;
const TEXTS = { type: "array", items: TEXT } as const;
/** Schema of Kubernetes' `user`, for user validation rules. */
const USER = {
  username: TEXT,
  uid: TEXT,
  groups: TEXTS,
  extra: { type: "object", additionalProperties: TEXTS },
} as const;

const compilers = {
  claims: new LazyExpressions({ claims: "map" }),
  user: new LazyExpressions({ user: USER }),
};

interface ExpressionPlace {
  readonly field: string;
  readonly sees: keyof typeof compilers;
  readonly wanted?: "bool";
}

/** Compiles the expression of a field and adds errors to `causes`. */
function compileField(
  source: string,
  { field, sees, wanted }: ExpressionPlace,
  causes: StatusCause[],
): Expression | undefined {
  const compiled = compilers[sees].compile(source, wanted);
  if ("expression" in compiled) return compiled.expression;
  causes.push(fieldInvalid(field, source, compiled.problem));
  return undefined;
}

/**
 * Returns whether an error is a failed evaluation of an expression. Compares names, because the package may be loaded twice.
 */
export function isExpressionError(error: unknown): error is Error {
  return error instanceof Error && error.name === "ExpressionError";
}
