import { type Asker, advertised, viewResources } from "../../hooks/hooks.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import type { ServedResource } from "../../resource/served.ts";
import type { VirtualWorkspace } from "../../virtual-workspace.ts";
import { AccessReviews, SelfReviews } from "./access-reviews.ts";
import { SelfSubjectAccessReview, SelfSubjectReview, SelfSubjectRulesReview } from "./kinds.ts";
import { findIn, Questions, type ReviewSubject } from "./questions.ts";
import { RulesReviews } from "./rule-survey.ts";

/**
 * The reviews that each view has besides its own resources, so that clients can ask who they are and what they may do. A
 * view that lists a resource of the same name serves that in its place, and one with a raw handler has none of these, unless it says what it
 * handles: what its resources do not serve is the handler's.
 */
export class Reviews {
  readonly served: readonly ServedResource[];
  readonly #workspace: VirtualWorkspace;

  constructor(subject: ReviewSubject) {
    this.#workspace = subject.workspace;
    const { handle, handleWhen } = subject.workspace;
    this.served = handle === undefined || handleWhen !== undefined ? reviewsOf(new Questions(subject, this)) : [];
  }

  /**
   * The review that a request is for, unless it is the view's own: then the view's rule decides. So it does when the
   * discovery hook fails, of which those hear whom the rule lets in.
   */
  async of(asker: Asker, info: RequestInfo): Promise<ServedResource | undefined> {
    if (this.served.length === 0) return undefined;
    try {
      return findIn(this.besides(advertised(await viewResources(this.#workspace, asker))), info);
    } catch {
      return undefined;
    }
  }

  /** Those that a view has which serves the resources of a list. */
  besides(list: readonly ServedResource[]): readonly ServedResource[] {
    return this.served.filter(
      ({ definition }) => findIn(list, { ...definition, resource: definition.plural }) === undefined,
    );
  }
}

function reviewsOf(questions: Questions): readonly ServedResource[] {
  return [
    SelfSubjectReview.serve(new SelfReviews()),
    SelfSubjectAccessReview.serve(new AccessReviews(questions)),
    SelfSubjectRulesReview.serve(new RulesReviews(questions)),
  ];
}
