/**
 * I7: phases and states move only along the arrows, each move is in the journal once, and journals never shrink. I8: exactly one audit event per
 * transition that the specification records, none without its transition, and none ever changed. After a wipe of all status the journal of before is
 * lost: an event that was still owed then may be missing, but never one too many. The same goes for a Bundle that a user deletes.
 */
import type { AuditEventSpec } from '../../../src/api/kinds/audit-event.ts';
import type { Transition } from '../../../src/api/meta.ts';
import { BUNDLE_ARROWS, phaseOf } from '../../../src/core/bundle/phases.ts';
import { STEP_ARROWS, stateOf } from '../../../src/core/step/states.ts';
import type { Change } from '../store-core.ts';
import { asBundle, asStep } from './commits.ts';
import { type Observer, type Scene, WIPE } from './observer.ts';

interface Move {
  readonly from: string;
  readonly to: string;
  readonly allowed: boolean;
  readonly before: readonly Transition[];
  readonly after: readonly Transition[];
}

const bundleMove = ({ before, object }: Change): Move => {
  const [old, now] = [before && asBundle(before), asBundle(object)];
  const [from, to] = [phaseOf(old?.status), phaseOf(now.status)];
  return {
    from,
    to,
    allowed: from === to || BUNDLE_ARROWS[from][to] !== undefined,
    before: old?.status?.transitions ?? [],
    after: now.status?.transitions ?? [],
  };
};

const stepMove = ({ before, object }: Change): Move => {
  const [old, now] = [before && asStep(before), asStep(object)];
  const [from, to] = [stateOf(old?.status), stateOf(now.status)];
  return {
    from,
    to,
    allowed: from === to || STEP_ARROWS[from][to] !== undefined,
    before: old?.status?.transitions ?? [],
    after: now.status?.transitions ?? [],
  };
};

/** What is wrong with a move; undefined when nothing is. */
const wrong = ({ from, to, allowed, before, after }: Move): string | undefined => {
  if (!allowed) return `went from ${from} to ${to}, for which there is no arrow`;
  const kept = JSON.stringify(after.slice(0, before.length)) === JSON.stringify(before);
  if (!kept) return 'lost or changed transitions of its journal';
  const added = after.slice(before.length);
  const path = [from, ...added.map((transition) => transition.to)];
  const chained = added.every((transition, index) => transition.from === path[index]);
  return chained && path.at(-1) === to ? undefined : `went from ${from} to ${to} and its journal says ${path.join(' → ')}`;
};

const STEP_ACTIONS = new Map([
  ['Verified', 'PromotionSucceeded'],
  ['Failed', 'PromotionFailed'],
  ['AbortedByAlarm', 'PromotionFailed'],
  ['RollingBack', 'PromotionFailed'],
]);

const stepAction = (transition: Transition): string | undefined =>
  transition.to === 'Promoting' && ['Pending', 'Failed'].includes(transition.from) ? 'PromotionStarted' : STEP_ACTIONS.get(transition.to);

/** Watches phases, states and audit events. */
export const transitionInvariants = (scene: Scene): Observer => {
  /** `bundle/environment/action` by how often the transition became durable. */
  const owed = new Map<string, number>();
  const written = new Map<string, number>();
  const owe = (key: string) => owed.set(key, (owed.get(key) ?? 0) + 1);

  const moved = (change: Change, move: Move): readonly Transition[] => {
    if (change.actor === WIPE) return [];
    const problem = wrong(move);
    const { namespace, name } = change.object.metadata;
    if (problem) scene.report({ invariant: 'I7', message: `${change.kind} ${namespace}/${name} ${problem}` });
    return move.after.slice(move.before.length);
  };

  const audited = (change: Change): void => {
    if (change.type !== 'ADDED') {
      scene.report({ invariant: 'I8', message: `AuditEvent ${change.object.metadata.name} was ${change.type.toLowerCase()}` });
      return;
    }
    const spec: AuditEventSpec = JSON.parse(JSON.stringify(Reflect.get(change.object, 'spec') ?? {}));
    const key = `${spec.bundle}/${spec.environment}/${spec.action}`;
    written.set(key, (written.get(key) ?? 0) + 1);
    if ((written.get(key) ?? 0) > (owed.get(key) ?? 0)) {
      scene.report({ invariant: 'I8', message: `${written.get(key)} AuditEvents ${key} for ${owed.get(key) ?? 0} transitions` });
    }
  };

  return {
    changed: (change) => {
      if (change.kind === 'AuditEvent') audited(change);
      if (change.type === 'DELETED') return;
      if (change.kind === 'Bundle') {
        for (const transition of moved(change, bundleMove(change))) {
          if (transition.to === 'Superseded') owe(`${change.object.metadata.name}//PromotionSuperseded`);
        }
      }
      if (change.kind === 'PromotionStep') {
        const { spec } = asStep(change.object);
        for (const transition of moved(change, stepMove(change))) {
          const action = stepAction(transition);
          if (action) owe(`${spec?.bundle}/${spec?.environment}/${action}`);
        }
      }
    },
    ended: () => {
      for (const [key, count] of owed) {
        const events = written.get(key) ?? 0;
        const deleted = scene.scenario.deletions.some(({ bundle }) => key.startsWith(`${bundle}/`));
        if (events !== count && !scene.wiped() && !deleted)
          scene.report({ invariant: 'I8', message: `${events} AuditEvents ${key} for ${count} transitions` });
      }
    },
  };
};
