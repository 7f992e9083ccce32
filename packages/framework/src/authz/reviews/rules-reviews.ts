import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Rules } from "../authorization.ts";
import type { Asker } from "../../hooks/hook-request.ts";
import type { RequestOptions, Scope, Storage } from "../../storage.ts";
import type { WriteOptions } from "../../storage-writes.ts";
import type { RulesContent } from "./content.ts";
import { askerOf, type Questions } from "./questions.ts";
import { RuleSurvey } from "./rule-survey.ts";

type Review = ObjectOf<RulesContent>;

/** Says what somebody may do: what the view's rule lists, or, where it cannot, what it says of all that is served. */
export class RulesReviews implements Storage<Review> {
  readonly lifecycle = "storage";
  readonly #questions: Questions;

  constructor(questions: Questions) {
    this.#questions = questions;
  }

  async create(scope: Scope, { apiVersion, kind, spec }: Review, options: WriteOptions): Promise<Review> {
    const namespace = spec?.namespace ?? "";
    if (namespace === "") throw ApiError.badRequest("no namespace on request");
    const status = await this.#rules(askerOf(scope, options), namespace, options);
    return { apiVersion, kind, metadata: {}, spec: {}, status: status };
  }

  async #rules(asker: Asker, namespace: string, options: RequestOptions): Promise<Rules> {
    try {
      const list = await this.#questions.served(asker);
      const survey = new RuleSurvey(this.#questions, { asker, list, namespace });
      const listed = await this.#questions.rules(asker, namespace);
      const rules = listed ?? (await survey.everything((error) => this.#questions.failure(error, options)));
      return { ...rules, resourceRules: [...survey.reviews(), ...rules.resourceRules] };
    } catch (error) {
      const evaluationError = this.#questions.failure(error, options);
      return { resourceRules: [], nonResourceRules: [], incomplete: true, evaluationError };
    }
  }
}
