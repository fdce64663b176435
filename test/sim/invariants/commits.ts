/**
 * I2: at most one commit per run on a branch. I3: nothing is written to an environment before all its dependencies are Verified. I4: nothing is written to
 * an environment by a guard that was asked while a gate held it. I5: a push is
 * never handed over by a guard that was asked after the Superseded of its Bundle was durable. And no commit without a guard that said yes, and none
 * that touches anything outside of its environment's folder.
 */
import type { Bundle } from '../../../src/api/kinds/bundle.ts';
import type { PipelineSpec } from '../../../src/api/kinds/pipeline.ts';
import type { PromotionStep } from '../../../src/api/kinds/promotion-step.ts';
import type { Resource } from '../../../src/api/meta.ts';
import { expectedOrder } from '../expected-order.ts';
import type { RemoteCommit } from '../git-remotes.ts';
import { allEnvironments } from '../manifests.ts';
import type { Observer, Scene } from './observer.ts';

/** A Bundle as the store's log shows it: of kind Bundle, and frozen. */
export const asBundle = (object: Resource): Bundle => object as Bundle;
/** A PromotionStep as the store's log shows it: of that kind, and frozen. */
export const asStep = (object: Resource): PromotionStep => object as PromotionStep;

/** The parts of a run's identity. */
export const partsOf = (run: string): { readonly bundle: string; readonly environment: string; readonly attempt: string } => {
  const [bundle = '', environment = '', attempt = ''] = run.split('/');
  return { bundle, environment, attempt };
};

/** Changed paths that do not lie in a folder of that environment. */
const strays = (scene: Scene, commit: RemoteCommit, environment: string): readonly string[] => {
  const before = commit.parent && scene.remotes.commit(commit.parent)?.files;
  const folders = scene.scenario.pipelines.flatMap((planned) =>
    allEnvironments(planned)
      .filter(({ name }) => name === environment)
      .map(({ path }) => `${path ?? ''}/`),
  );
  const changed = [...commit.files].filter(([path, text]) => before?.get(path) !== text).map(([path]) => path);
  return changed.filter((path) => !folders.some((folder) => path.startsWith(folder)));
};

/** Watches what is written to branches. */
export const commitInvariants = (scene: Scene): Observer => {
  const bundles = new Map<string, Bundle>();
  const known = new Map<string, Bundle>();
  const verified = new Set<string>();
  const pipelines = new Map<string, PipelineSpec[]>();
  const agreed = new Set<string>();

  const missing = (run: string): string | undefined => {
    const { bundle: uid, environment } = partsOf(run);
    // It may have been deleted while the guard was answering.
    const bundle = known.get(uid);
    if (!bundle) return 'its Bundle never existed';
    const intent = bundle.spec?.intent;
    const intended = { target: intent?.targetEnvironment, skip: [...(intent?.skipEnvironments ?? []), ...(intent?.skip ?? [])] };
    const versions = pipelines.get(bundle.spec?.pipeline ?? '') ?? [];
    const open = versions.map((spec) => {
      const waits = expectedOrder(spec, intended).get(environment);
      return waits ? [...waits].filter((name) => !verified.has(`${uid}/${name}`)) : ['(it is not for this environment)'];
    });
    // While a Pipeline is edited, either version may have been read; one of them must allow it.
    return open.some((names) => names.length === 0) ? undefined : `not Verified: ${open.map((names) => names.join(', ')).join(' or ')}`;
  };

  return {
    changed: ({ kind, type, object }) => {
      if (kind === 'Pipeline') {
        const spec: PipelineSpec = JSON.parse(JSON.stringify(Reflect.get(object, 'spec') ?? {}));
        const known = pipelines.get(object.metadata.name) ?? [];
        if (JSON.stringify(known.at(-1)) !== JSON.stringify(spec)) pipelines.set(object.metadata.name, [...known, spec]);
      }
      if (kind === 'Bundle') {
        if (type === 'DELETED') bundles.delete(object.metadata.uid ?? '');
        else bundles.set(object.metadata.uid ?? '', asBundle(object));
        known.set(object.metadata.uid ?? '', asBundle(object));
      }
      if (kind === 'PromotionStep' && type !== 'DELETED') {
        const step = asStep(object);
        const bundle = [...bundles.values()].find((candidate) => candidate.metadata.name === step.spec?.bundle);
        if (step.status?.state === 'Verified' && bundle) verified.add(`${bundle.metadata.uid ?? ''}/${step.spec?.environment ?? ''}`);
      }
    },
    guardAsked: ({ run }) => {
      const gate = scene.scenario.gates.find(
        (planned) =>
          planned.environment === partsOf(run).environment &&
          scene.core.get('PolicyGate', planned.gate.metadata.namespace ?? '', planned.gate.metadata.name) !== undefined,
      );
      const bundle = bundles.get(partsOf(run).bundle);
      const forbidden = bundle === undefined ? 'deleted' : bundle.status?.phase === 'Superseded' ? 'Superseded' : undefined;
      return (answer) => {
        if (!answer) return;
        agreed.add(run);
        if (forbidden)
          scene.report({
            invariant: 'I5',
            message: `a push of run ${run} was handed over although its Bundle was ${forbidden} before the guard was asked`,
          });
        if (gate)
          scene.report({ invariant: 'I4', message: `a push of run ${run} was handed over although ${gate.gate.metadata.name} held it` });
        const open = missing(run);
        if (open) scene.report({ invariant: 'I3', message: `a push of run ${run} was handed over: ${open}` });
      };
    },
    landed: ({ url, branch, commit }) => {
      if (commit.run === undefined) return;
      if (!agreed.has(commit.run))
        scene.report({ invariant: 'I5', message: `commit ${commit.sha} of run ${commit.run} landed and no guard ever agreed` });
      const strayed = strays(scene, commit, partsOf(commit.run).environment);
      if (strayed.length > 0)
        scene.report({ invariant: 'I3', message: `commit ${commit.sha} of run ${commit.run} changes ${strayed.join(', ')}` });
      const before = scene.remotes.history(url, branch).find((other) => other.run === commit.run && other.sha !== commit.sha)?.sha;
      // Where the run began is known from status only; after a wipe, the run may begin anew behind its own commit.
      if (before !== undefined && !scene.wiped())
        scene.report({ invariant: 'I2', message: `run ${commit.run} has two commits on ${branch}: ${before} and ${commit.sha}` });
    },
  };
};
