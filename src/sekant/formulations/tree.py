"""The topology of bodies and joints: a spanning tree of links, and the remaining joints, which close loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.geometry.spatial import Pose, RigidInertia
from sekant.model.joints import Free, Joint
from sekant.model.model import Model


@dataclass(frozen=True, slots=True)
class Link:
    """A body together with the joint that carries it.

    The link's own frame is the joint's frame M on the child: in this frame a hinge's subspace is a unit vector, and
    constant poses relative to it cost nothing at run time. If the tree traverses a joint backwards (`reversed`), the
    link is the joint's parent body, and its frame is F.
    """

    body: str
    joint_name: str
    joint: Joint
    parent: int  # index of the parent link; -1: ground
    X_PF: Pose  # joint frame F (reversed: M) in the parent link's frame
    X_BM: Pose  # the link's frame in the body's frame
    inertia: RigidInertia  # about the origin of the link's frame, in that frame
    q: slice  # of this joint's coordinates among all of the tree's
    v: slice
    reversed: bool = False


@dataclass(frozen=True)
class SpanningTree:
    """Links in an order in which every parent comes before its children, and the joints that close loops."""

    links: tuple[Link, ...]
    cuts: tuple[str, ...]


def joint_frames(model: Model, joint: Joint) -> tuple[tuple[str, Pose], tuple[str, Pose]]:
    """((parent body, X_BF), (child body, X_BM)): the joint's frames in its bodies' own frames."""
    X_F, X_M = joint.frame_poses()
    ends = []
    for reference, X in ((joint.parent, X_F), (joint.child, X_M)):
        body, frame = model.split_reference(reference)
        frames = model.ground.frames if body == "ground" else model.bodies[body].frames
        ends.append((body, frames[frame].pose() @ X if frame else X))
    return ends[0], ends[1]


def spanning_tree(model: Model) -> tuple[list[tuple[str, bool]], tuple[str, ...]]:
    """Joints of the tree, parents first, each with a flag that it is traversed backwards; and the cut joints.

    The tree grows from the ground, always by the adjacent joint with the fewest coordinates; joints marked
    `cut` come last. Few coordinates in the tree mean few equations in all, and joints with many coordinates
    need few constraints to close a loop.
    """
    ends = {
        name: tuple(model.split_reference(reference)[0] for reference in (joint.parent, joint.child))
        for name, joint in model.joints.items()
    }
    order = {name: i for i, name in enumerate(model.joints)}
    depth = {"ground": 0}
    tree: list[tuple[str, bool]] = []
    rest = set(model.joints)
    while True:
        reach = [
            (model.joints[name].cut, model.joints[name].nv, child in depth, depth[a], order[name], name)
            for name in rest
            for parent, child in [ends[name]]
            if (parent in depth) != (child in depth)
            for a in [parent if parent in depth else child]
        ]
        if not reach:
            break
        name = min(reach)[-1]
        parent, child = ends[name]
        backwards = child in depth
        new, old = (parent, child) if backwards else (child, parent)
        depth[new] = depth[old] + 1
        tree.append((name, backwards))
        rest.discard(name)
    return tree, tuple(name for name in model.joints if name in rest)


def tree_layout(model: Model) -> SpanningTree:
    """Relative coordinates: links along the spanning tree."""
    tree, cuts = spanning_tree(model)
    links: list[Link] = []
    index = {"ground": -1}
    nq = nv = 0
    for name, backwards in tree:
        joint = model.joints[name]
        near, far = joint_frames(model, joint)
        if backwards:
            near, far = far, near
        (parent, X_BF), (child, X_BM) = near, far
        X_PF = X_BF if parent == "ground" else links[index[parent]].X_BM.inverse() @ X_BF
        links.append(
            Link(
                body=child,
                joint_name=name,
                joint=joint,
                parent=index[parent],
                X_PF=X_PF,
                X_BM=X_BM,
                inertia=model.bodies[child].inertia_at(X_BM),
                q=slice(nq, nq + joint.nq),
                v=slice(nv, nv + joint.nv),
                reversed=backwards,
            )
        )
        index[child] = len(links) - 1
        nq, nv = nq + joint.nq, nv + joint.nv
    return SpanningTree(tuple(links), cuts)


def free_layout(model: Model) -> SpanningTree:
    """Cartesian coordinates: every body floats (position and Euler parameters), every joint is a constraint."""
    links = []
    for i, (name, body) in enumerate(model.bodies.items()):
        X = Pose.identity()
        links.append(
            Link(
                body=name,
                joint_name=name,
                joint=Free(child=name),
                parent=-1,
                X_PF=X,
                X_BM=X,
                inertia=body.inertia_at(X),
                q=slice(7 * i, 7 * i + 7),
                v=slice(6 * i, 6 * i + 6),
            )
        )
    return SpanningTree(tuple(links), tuple(model.joints))


def tree_lines(motion: Any, p: NDArray[np.float64]) -> Iterator[str]:
    """The tree of bodies, one line for each body."""
    children: dict[int, list[int]] = {}
    for i, link in enumerate(motion.links):
        children.setdefault(link.parent, []).append(i)

    def show(i: int, indent: str, last: bool) -> Iterator[str]:
        link = motion.links[i]
        free = len(motion.free[i])
        driven = link.joint.nv - free
        freedom = f"{free} dof" + (f", {driven} driven" if driven else "")
        mass = float(ca.Function("m", [motion.p], [link.inertia.m])(p))
        branch = "└─ " if last else "├─ "
        yield f"{indent}{branch}{link.joint_name} ({link.joint.type}, {freedom}) → {link.body} ({mass:.4g} kg)"
        below = children.get(i, [])
        for k in below:
            yield from show(k, indent + ("   " if last else "│  "), k == below[-1])

    yield "ground"
    for i in children.get(-1, []):
        yield from show(i, "", i == children[-1][-1])
