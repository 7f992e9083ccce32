// Configurations of admission that are made through one process over one etcd take effect in the other within a second.
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { WebhookServer } from "../../workspace-server/admission/support/webhook.ts";
import type { Admin, Told } from "../../workspace-server/faults/support/admin.ts";
import * as make from "../../workspace-server/faults/support/tree.ts";
import { etcdThere } from "../support/etcd.ts";
import { Together } from "../support/together.ts";

const { paths, within } = make;
const GROUP = "admissionregistration.k8s.io/v1";
const AT = `/apis/${GROUP}`;
const RULES = [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }];
const MAPS = within("root", paths.MAPS);

/** Longest time until a configuration takes effect, in ms. */
const WITHIN = 1_000;

/** Returns the first answer to a creation that is as expected, and fails if that takes too long. */
async function soon(admin: Admin, is: (told: Told) => boolean): Promise<Told> {
  const startedAt = performance.now();
  for (;;) {
    const told = await admin.send("POST", `${MAPS}?dryRun=All`, make.configMap("a"));
    const took = performance.now() - startedAt;
    if (is(told)) {
      expect(took).to.be.below(WITHIN);
      return told;
    }
    if (took > 10 * WITHIN) throw new Error(`stays ${told.status} ${JSON.stringify(told.body)}`);
    await delay(5);
  }
}

describe("configurations of admission over two processes", function () {
  this.timeout(120_000);
  before(etcdThere("3.4"));

  it("take effect and end in one within a second after they are written through the other", async () => {
    await using webhooks = await WebhookServer.start();
    webhooks.at("/no", () => ({ allowed: false, status: { message: "closed" } }));
    await using together = await Together.start();
    const more = ["--admission-webhook-allow=127.0.0.1"];
    const [first, one] = await together.process("one", { more });
    const [second, two] = await together.process("two", { more });
    await using _first = first;
    await using _second = second;
    using _one = one;
    using _two = two;
    for (const each of [one, two]) await each.until(`${MAPS}/kube-root-ca.crt`, ({ status }) => status === 200);

    const about = { apiVersion: GROUP, metadata: { name: "test" } };
    const passes = ({ status }: Told): boolean => status === 201;
    await soon(two, passes);
    await one.ok("POST", within("root", `${AT}/validatingwebhookconfigurations`), {
      ...about,
      kind: "ValidatingWebhookConfiguration",
      webhooks: [
        {
          name: "no.example.dev",
          clientConfig: webhooks.config("/no"),
          rules: RULES,
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    });
    const denied = await soon(two, ({ status }) => status === 400);
    expect(denied.body.message).to.equal('admission webhook "no.example.dev" denied the request: closed');
    await two.ok("DELETE", within("root", `${AT}/validatingwebhookconfigurations/test`));
    await soon(one, passes);

    const policies = within("root", `${AT}/validatingadmissionpolicies`);
    const policy = {
      ...about,
      kind: "ValidatingAdmissionPolicy",
      spec: {
        matchConstraints: { resourceRules: RULES },
        validations: [{ expression: "object.metadata.name != 'a'", message: "closed" }],
      },
    };
    const bindings = within("root", `${AT}/validatingadmissionpolicybindings`);
    await two.ok("POST", policies, policy);
    await two.ok("POST", bindings, {
      ...about,
      kind: "ValidatingAdmissionPolicyBinding",
      spec: { policyName: "test", validationActions: ["Deny"] },
    });
    const forbidden = await soon(one, ({ status }) => status === 422);
    expect(forbidden.body.message).to.include("denied request: closed");
    const changed = { spec: { validations: [{ expression: "object.metadata.name != 'b'" }] } };
    await one.ok("PATCH", `${policies}/test`, changed);
    await soon(two, passes);
    await two.ok("DELETE", `${bindings}/test`);
    await soon(one, passes);
  });
});
