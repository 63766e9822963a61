"""Board games for two players, and a player that learns them by searching and playing itself."""

from playgrad.games.connect_four import ConnectFour
from playgrad.games.go import Go
from playgrad.games.othello import Othello
from playgrad.games.protocol import Game, State
from playgrad.games.symmetry import Symmetry
from playgrad.games.tic_tac_toe import TicTacToe

__all__ = ["ConnectFour", "Game", "Go", "Othello", "State", "Symmetry", "TicTacToe"]
