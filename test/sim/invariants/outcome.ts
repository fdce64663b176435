/**
 * I1: no acknowledged Bundle is lost. I14: after the last fault the end is the one of a run without faults: the newest Bundle of each Pipeline is
 * Verified and its images stand at the tip in every environment that it is meant for, unless the scenario makes an environment fail; older Bundles
 * have ended, whichever way their timing allowed. Where a scenario leaves two ends open (a bake that fails on an alarm and a Deployment that dips,
 * a short health timeout while faults go on, a Pipeline edited in mid-flight), either is right, but it must be an end.
 */
import type { Bundle } from '../../../src/api/kinds/bundle.ts';
import type { Environment, PipelineSpec } from '../../../src/api/kinds/pipeline.ts';
import { isFinished, phaseOf } from '../../../src/core/bundle/phases.ts';
import { expectedOrder, type Order } from '../expected-order.ts';
import { allEnvironments, imagesAt } from '../manifests.ts';
import { USER } from '../plan-scenario.ts';
import { BRANCH, NAMESPACE, type PlannedBundle, type PlannedPipeline, POLICIES } from '../scenario.ts';
import { asBundle } from './commits.ts';
import type { Observer, Scene } from './observer.ts';

/** How an environment must end with the newest Bundle. */
type Expected = 'verified' | 'failed' | 'either';

const wantedAt = (environment: Environment, planned: PlannedBundle): readonly string[] => {
  const chart = environment.update?.strategy === 'chart';
  const images = planned.bundle.spec?.images ?? [];
  return (chart ? images.slice(0, 1) : images).map(
    (image) => `${image.repository}:${image.tag}${image.digest && !chart ? `@${image.digest}` : ''}`,
  );
};

/** Looks at Bundles that are deleted, and at the end. */
export const outcomeInvariants = (scene: Scene): Observer => {
  const { scenario, core, remotes, profile } = scene;
  const collected = new Set<string>();

  const disturbed = ({ url }: PlannedPipeline, environment: Environment): boolean => scene.disturbed(url, `${environment.path ?? ''}/`);

  const deletedByUser = (name: string): boolean => scenario.deletions.some((deletion) => deletion.bundle === name);

  const expectation = (planned: PlannedPipeline, environment: Environment, tag: string): Expected => {
    const path = `${environment.path ?? ''}/`;
    if (scenario.protectedPaths.includes(path)) return 'failed';
    const behaviour = scenario.behaviour(planned.pipeline.metadata.name, environment.name ?? '', tag);
    if (disturbed(planned, environment)) return 'either';
    if (behaviour.readyAfter === undefined) return 'failed';
    const short = environment.health?.timeout === '2m';
    if (short && (profile.horizonMs > 0 || behaviour.readyAfter > 45_000 || behaviour.dip !== undefined)) return 'either';
    if (environment.bake?.policy === 'fail-on-alarm' && (behaviour.dip !== undefined || profile.clusterStale > 0)) return 'either';
    return 'verified';
  };

  /** Whether an org gate on an environment that it skips was there at some time. */
  const mayBeDenied = (bundle: Bundle): boolean =>
    scenario.gates.some(
      ({ gate, environment }) => gate.metadata.namespace === POLICIES && bundle.spec?.intent?.skipEnvironments?.includes(environment),
    );

  const contentOf = (planned: PlannedPipeline, environment: Environment): string => {
    const tip = remotes.tip(planned.url, BRANCH);
    return tip ? imagesAt(tip.files, environment, planned.images).join('+') : '';
  };

  const atTip = (planned: PlannedPipeline, environment: Environment, bundle: PlannedBundle): boolean => {
    const tip = remotes.tip(planned.url, BRANCH);
    const images = wantedAt(environment, bundle);
    return tip !== undefined && images.every((image) => imagesAt(tip.files, environment, planned.images).includes(image));
  };

  const orders = (planned: PlannedPipeline, bundle: Bundle): readonly Order[] => {
    const intent = bundle.spec?.intent;
    const intended = { target: intent?.targetEnvironment, skip: intent?.skipEnvironments ?? [] };
    const specs: readonly (PipelineSpec | undefined)[] = [planned.pipeline.spec, ...(planned.edit ? [planned.edit.spec] : [])];
    return specs.map((spec) => expectedOrder(spec, intended));
  };

  /** Environments with a definite end: those that every version of the Pipeline has. */
  const environmentsOf = (planned: PlannedPipeline, bundle: Bundle): readonly Environment[] => {
    const all = orders(planned, bundle);
    return allEnvironments(planned).filter((environment) => all.every((order) => order.has(environment.name ?? '')));
  };

  const checkNewest = (planned: PlannedPipeline, newest: PlannedBundle, bundle: Bundle): void => {
    const environments = environmentsOf(planned, bundle);
    const any = allEnvironments(planned).filter((environment) =>
      orders(planned, bundle).some((order) => order.has(environment.name ?? '')),
    );
    const ends = any.map((environment) => expectation(planned, environment, newest.tag));
    const phase = phaseOf(bundle.status);
    if (phase === 'SkipDenied' && mayBeDenied(bundle)) return;
    const allowed = ends.every((end) => end === 'verified')
      ? ['Verified']
      : ends.includes('failed') && !planned.edit
        ? ['Failed']
        : ['Verified', 'Failed'];
    const name = bundle.metadata.name;
    if (!allowed.includes(phase)) {
      scene.report({
        invariant: 'I14',
        message: `the newest Bundle ${name} ended ${phase}, not ${allowed.join(' or ')}: ${bundle.status?.transitions?.at(-1)?.message ?? JSON.stringify(bundle.status?.conditions)}`,
      });
    }
    const undisturbed = phase === 'Verified' ? environments.filter((candidate) => !disturbed(planned, candidate)) : [];
    for (const environment of undisturbed) {
      if (!atTip(planned, environment, newest))
        scene.report({ invariant: 'I14', message: `${name} is Verified and ${environment.name} does not hold it at the tip` });
    }
    const held = undisturbed.map((environment) => `${environment.name}=${contentOf(planned, environment)}`);
    if (allowed.length === 1 && !orderOpen(planned)) scene.concluded(planned.pipeline.metadata.name, [name, phase, ...held].join(' '));
  };

  /** Whether two Bundles were created in the same second, so that either may be the newer one. */
  const orderOpen = (planned: PlannedPipeline): boolean => {
    const seconds = scenario.bundles
      .filter(({ bundle }) => bundle.spec?.pipeline === planned.pipeline.metadata.name)
      .map(({ bundle }) => core.get('Bundle', NAMESPACE, bundle.metadata.name)?.metadata.creationTimestamp);
    return new Set(seconds).size < seconds.length;
  };

  const checkPipeline = (planned: PlannedPipeline): void => {
    const pipeline = planned.pipeline.metadata.name;
    const present = scenario.bundles
      .filter(({ bundle }) => bundle.spec?.pipeline === pipeline)
      .map((entry) => ({ entry, stored: core.get('Bundle', NAMESPACE, entry.bundle.metadata.name) }));
    for (const { entry, stored } of present) {
      const name = entry.bundle.metadata.name;
      if (!stored && !collected.has(name) && !deletedByUser(name)) scene.report({ invariant: 'I1', message: `Bundle ${name} is gone` });
      if (stored && !isFinished(asBundle(stored).status)) {
        const { status } = asBundle(stored);
        scene.report({ invariant: 'I14', message: `Bundle ${name} is ${phaseOf(status)} for ever: ${JSON.stringify(status?.conditions)}` });
      }
    }
    const bundles = present.flatMap(({ entry, stored }) => (stored ? [{ entry, bundle: asBundle(stored) }] : []));
    const sequenceOf = (bundle: Bundle) => bundle.status?.sequence ?? 0;
    const newest = bundles.sort((a, b) => sequenceOf(b.bundle) - sequenceOf(a.bundle))[0];
    if (!newest) return;
    const later = bundles.find(
      ({ bundle }) => (bundle.metadata.creationTimestamp ?? '') > (newest.bundle.metadata.creationTimestamp ?? ''),
    );
    // A place that was taken right before a wipe may be behind one that is taken after it.
    if (later && !scene.wiped())
      scene.report({
        invariant: 'I14',
        message: `${newest.bundle.metadata.name} is ordered behind ${later.bundle.metadata.name}, which was created later`,
      });
    if (!present.some(({ entry }) => deletedByUser(entry.bundle.metadata.name))) checkNewest(planned, newest.entry, newest.bundle);
  };

  return {
    changed: ({ kind, type, before, object, actor }) => {
      if (kind !== 'Bundle' || type !== 'DELETED') return;
      const bundle = asBundle(before ?? object);
      collected.add(object.metadata.name);
      // What a wipe took away may have been known a moment before.
      if (!isFinished(bundle.status) && actor !== USER && !scene.wiped())
        scene.report({ invariant: 'I1', message: `${actor} deleted Bundle ${object.metadata.name} in phase ${phaseOf(bundle.status)}` });
    },
    ended: () => {
      for (const planned of scenario.pipelines) checkPipeline(planned);
    },
  };
};
