// Random RBAC rules in comparison with Kubernetes' own function for covered rules, with requests written as rules.
import { type Decision, User } from "@virtual-workspaces/framework";
import { type PolicyRule, rbac } from "@virtual-workspaces/framework/authz";
import { expect } from "chai";
import { asked } from "../_support/asked.ts";
import { Random } from "../_support/random.ts";
import { building, goProgram } from "./support/build.ts";
import { Program } from "./support/program.ts";

const some = <T>(random: Random, values: readonly T[], least = 1): T[] =>
  random.many(least + random.below(2), () => random.pick(values));

const VERBS = ["get", "list", "create", "*"];
const RESOURCES = ["pods", "nodes", "pods/log", "nodes/log", "*/log", "*/", "*", "pods/*"];
const URLS = ["/x", "/x/*", "/x*", "*", "/x/**", "/*/y"];

function rule(random: Random): PolicyRule {
  const verbs = some(random, VERBS);
  if (random.chance(0.3)) return { verbs, nonResourceURLs: some(random, URLS) };
  const resourceNames = random.chance(0.4) ? { resourceNames: some(random, ["a", "b", "*"]) } : {};
  return { verbs, apiGroups: some(random, ["", "apps", "*"]), resources: some(random, RESOURCES), ...resourceNames };
}

interface Question {
  readonly rules: readonly PolicyRule[];
  readonly asked: PolicyRule;
  readonly allowed: boolean;
}

const user = new User({ name: "u" });

function question(random: Random): Question {
  const rules = random.many(1 + random.below(2), () => rule(random));
  const authorizer = rbac({
    objects: [
      { kind: "ClusterRole", metadata: { name: "r" }, rules },
      {
        kind: "ClusterRoleBinding",
        metadata: { name: "b" },
        roleRef: { kind: "ClusterRole", name: "r" },
        subjects: [{ kind: "User", name: "u" }],
      },
    ],
  });
  const verb = random.pick(VERBS);
  if (random.chance(0.3)) {
    const path = random.pick(["/x", "/x/y", "/xy", "/", "/a/y"]);
    const { allowed } = authorizer(asked(user, { verb, path })) as Decision;
    return { rules, asked: { verbs: [verb], nonResourceURLs: [path] }, allowed };
  }
  const [group, resource, subresource, name] = [
    random.pick(["", "apps"]),
    random.pick(["pods", "nodes"]),
    random.pick(["", "", "log"]),
    random.pick(["", "a", "b"]),
  ];
  const { allowed } = authorizer(asked(user, { verb, group, resource, subresource, name })) as Decision;
  const resources = [subresource === "" ? resource : `${resource}/${subresource}`];
  const resourceNames = name === "" ? {} : { resourceNames: [name] };
  return { rules, asked: { verbs: [verb], apiGroups: [group], resources, ...resourceNames }, allowed };
}

describe("an RBAC rule", function () {
  this.timeout(60_000);
  before(building("clients"));

  it("allows exactly the requests that it covers according to Kubernetes", async () => {
    const random = new Random(11);
    const questions = random.many(5_000, () => question(random));
    await using program = new Program(goProgram("clients", "rules"), []);
    for (const { rules, asked } of questions) program.say(JSON.stringify({ rules, asked }));
    program.endInput();
    await program.ended;
    expect(program.stderr).to.equal("");
    expect(program.lines).to.have.length(questions.length);
    const wrong = questions.filter(({ allowed }, at) => String(allowed) !== program.lines[at]);
    expect(wrong).to.deep.equal([]);
    expect(questions.filter(({ allowed }) => allowed).length).to.be.above(500);
  });
});
